// Half precision: 16-bit numbers, to store weights in little memory.
#pragma once

#include <cstdint>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The bits of the half-precision number (IEEE 754 binary16: sign, 5 bits of exponent, 10 of
/// fraction) that is nearest to x, ties to even. From 65,520 on that is infinity.
std::uint16_t half_bits(double x);

/// The number with these 16 bits. Exact in float.
double half_number(std::uint16_t bits);

/// The same for bfloat16, the upper half of a float: sign, 8 bits of exponent, 7 of fraction. x is
/// rounded to float first.
std::uint16_t bfloat_bits(double x);
double bfloat_number(std::uint16_t bits);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
