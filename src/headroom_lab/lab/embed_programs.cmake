# Writes the small programs of experiments and their outputs as strings:
# cmake -DOUT=programs.cpp -DFILES="a.cpp;a.py;a.txt" -P embed_programs.cmake
set(text "// Made by embed_programs.cmake.\n#include \"lab/programs.hpp\"\n\n")
string(APPEND text "namespace headroom {\n\n")
string(APPEND text "std::string_view lab_example(std::string_view file) {\n")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" content)
  string(APPEND text "  if (file == \"${name}\") {\n")
  string(APPEND text "    return R\"~lab~(${content})~lab~\";\n  }\n")
endforeach()
string(APPEND text "  return {};\n}\n\n}  // namespace headroom\n")
file(WRITE "${OUT}" "${text}")
