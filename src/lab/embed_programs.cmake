# Writes the small programs of experiments as strings:
# cmake -DOUT=programs.cpp -DFILES="a.cpp;b.cpp" -P embed_programs.cmake
set(text "// Made by embed_programs.cmake.\n#include \"lab/programs.hpp\"\n\n")
string(APPEND text "namespace headroom {\n\n")
string(APPEND text "std::string_view small_program(std::string_view experiment) {\n")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${file}" content)
  string(APPEND text "  if (experiment == \"${name}\") {\n")
  string(APPEND text "    return R\"~cpp~(${content})~cpp~\";\n  }\n")
endforeach()
string(APPEND text "  return {};\n}\n\n}  // namespace headroom\n")
file(WRITE "${OUT}" "${text}")
