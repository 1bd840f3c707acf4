// Numbers with as many digits as matter.
#include "headroom/base/record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace headroom::inline HEADROOM_PRECISION {

Record rounded_number(double value, int digits) {
  if (!std::isfinite(value)) return nullptr;
  // std::stod would throw where the result is subnormal, as a dying head's gradient may be.
  return std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
}

}  // namespace headroom::inline HEADROOM_PRECISION
