// The files of examples/lab/ as strings; embed_programs.cmake generates programs.cpp from them.
#pragma once

#include <string_view>

namespace headroom {

/// Returns a file of examples/lab/, or "": NAME.cpp is the smallest program that shows the answer
/// of the experiment NAME, NAME.py the same in PyTorch, NAME.txt the line that both print.
std::string_view lab_example(std::string_view file);

}  // namespace headroom
