# Turns files into string constants: cmake -DOUT=page.cpp -DFILES="a.css;b.js" -P embed.cmake
# a.css becomes headroom::page::a_css. Both precisions share them.
set(text "// Made by embed.cmake.\n#include \"report/page.hpp\"\n\nnamespace headroom::page {\n\n")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME)
  string(MAKE_C_IDENTIFIER "${name}" name)
  file(READ "${file}" content)
  string(APPEND text "const std::string_view ${name} = R\"~page~(${content})~page~\";\n\n")
endforeach()
string(APPEND text "}  // namespace headroom::page\n")
file(WRITE "${OUT}" "${text}")
