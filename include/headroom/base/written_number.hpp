// A number that a person wrote.
#pragma once

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The value of "0.5", "1e-8", "1/3", or "35 %", which is 35; nothing for any other text.
inline std::optional<double> written_number(const std::string& text) {
  const char* begin = text.c_str();
  char* end = nullptr;
  double number = std::strtod(begin, &end);
  if (end != begin && *end == '/') {
    begin = end + 1;
    number /= std::strtod(begin, &end);
  }
  std::string rest = end == begin ? "nothing" : end;
  rest.erase(0, rest.find_first_not_of(' '));
  const bool whole = rest.empty() || rest == "%";
  return whole && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
