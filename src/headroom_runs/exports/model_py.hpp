// model.py as a string, by CMake.
#pragma once

#include <string_view>

namespace headroom::exports {

extern const std::string_view model_py;

}  // namespace headroom::exports
