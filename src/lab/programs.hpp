// The files of examples/lab/ as strings; embed_programs.cmake generates programs.cpp from them.
#pragma once

#include <string_view>

namespace headroom {

/// Returns the smallest program that shows an experiment's answer, examples/lab/NAME.cpp, or "".
std::string_view small_program(std::string_view experiment);

}  // namespace headroom
