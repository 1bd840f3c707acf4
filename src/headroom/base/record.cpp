// Numbers rounded to significant digits.
#include "headroom/base/record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace headroom {
inline namespace HEADROOM_PRECISION {

double rounded_number(double value, int digits) {
  // std::stod would throw where the result is subnormal, as the gradient of an unused head may be.
  const double rounded = std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
  return std::isfinite(rounded) ? rounded : value;  // the largest numbers would round to infinity
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
