// Half precision by arithmetic that is exact except for the one intended rounding.
#include "headroom/base/half.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
constexpr std::uint16_t sign_bit = 0x8000, infinity_bits = 0x7C00, nan_bits = 0x7E00;
constexpr int least_exponent = -14, fraction_bits = 10;
constexpr double beyond = 65520;  // halfway between the largest number, 65504, and the next step
}  // namespace

std::uint16_t half_bits(double x) {
  const std::uint16_t sign = std::signbit(x) ? sign_bit : std::uint16_t{0};
  const double size = std::abs(x);
  if (std::isnan(x)) return nan_bits;
  if (size >= beyond) return sign | infinity_bits;
  if (size == 0) return sign;
  // Neighbours are 2^(exponent - 10) apart; below 2^-14 they come no closer.
  const int exponent = std::max(std::ilogb(size), least_exponent);
  const auto steps = int(std::nearbyint(std::ldexp(size, fraction_bits - exponent)));
  // A normal number has 1024 to 2047 steps and its exponent's field counts from 1; rounding up to
  // 2048 carries into that field by itself.
  return static_cast<std::uint16_t>(sign + ((exponent - least_exponent) << fraction_bits) + steps);
}

double half_number(std::uint16_t bits) {
  const int exponent = (bits & infinity_bits) >> fraction_bits, fraction = bits & 0x3FF;
  double size = 0;
  if (exponent == 31) {
    size = fraction == 0 ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  } else {
    const int steps = exponent == 0 ? fraction : 1024 + fraction;
    size = std::ldexp(steps, std::max(exponent, 1) - 1 + least_exponent - fraction_bits);
  }
  return (bits & sign_bit) == 0 ? size : -size;
}

std::uint16_t bfloat_bits(double x) {
  if (std::isnan(x)) return 0x7FC0;
  const auto bits = std::bit_cast<std::uint32_t>(float(x));
  const std::uint32_t even = (bits >> 16) & 1;  // a tie goes to the even neighbour
  return static_cast<std::uint16_t>((bits + 0x7FFF + even) >> 16);
}

double bfloat_number(std::uint16_t bits) {
  return double(std::bit_cast<float>(std::uint32_t{bits} << 16));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
