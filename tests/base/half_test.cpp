// Half precision: all numbers of the format against the formula of the standard.
#include "headroom/base/half.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "headroom/base/rng.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {

/// Decodes bits by the formula of the standard, with powers of two from plain loops.
double by_formula(unsigned bits) {
  const unsigned exponent = bits / 1024 % 32, fraction = bits % 1024;
  double power = 1;
  for (unsigned e = 15; e < exponent; ++e) power *= 2;
  for (unsigned e = std::max(exponent, 1u); e < 15; ++e) power /= 2;
  const double size = (exponent == 0 ? 0 : power) + power * fraction / 1024;
  return bits >= 0x8000 ? -size : size;
}

/// The half-precision number nearest to `size`; of equally near ones the one with even bits.
unsigned nearest_half(double size) {
  unsigned best = 0;
  for (unsigned bits = 1; bits < 0x7C00; ++bits) {
    const double closer = std::abs(by_formula(best) - size) - std::abs(by_formula(bits) - size);
    if (closer > 0 || (closer == 0 && bits % 2 == 0)) best = bits;
  }
  return best;
}

}  // namespace

TEST_CASE("every finite half is the number that the standard says, and comes back as itself") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    if (bits / 1024 % 32 == 31) continue;
    const auto half = static_cast<std::uint16_t>(bits);
    if (half_number(half) != by_formula(bits) || half_bits(by_formula(bits)) != half) {
      FAIL(bits << ": " << half_number(half));
    }
  }
}

TEST_CASE("a number becomes the nearest half, the even one of two, whatever its size") {
  Rng rng(3, "halves");
  std::vector<double> sizes = {1.0,     1.0 + 0x1p-11,    1.0 + 0x3p-11, 1.0 + 0x1p-11 + 0x1p-40,
                               65504.0, 65519.99,         0x1p-24,       0x1p-25,
                               0x3p-25, 0x1.0000001p-25,  0x1.FFFp-15,   0x1.FF8p-15,
                               0.1,     3.14159265358979, 2047.5,        2048.5};
  for (int i = 0; i < 40; ++i) {
    sizes.push_back(std::abs(double(rng.normal())) * std::pow(10.0, i % 9 - 5));
  }
  for (const double size : sizes) {
    INFO(size);
    CHECK(half_bits(size) == nearest_half(size));
    CHECK(half_bits(-size) == (nearest_half(size) | 0x8000u));
  }
}

TEST_CASE("what is too large is infinite, and what is no number stays none") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(half_bits(65520) == 0x7C00);
  CHECK(half_bits(1e300) == 0x7C00);
  CHECK(half_bits(-infinity) == 0xFC00);
  CHECK(half_number(0xFC00) == -infinity);
  CHECK(std::isnan(half_number(half_bits(std::numeric_limits<double>::quiet_NaN()))));
  CHECK(std::signbit(half_number(half_bits(-0.0))));
  CHECK(half_bits(1e-300) == 0);
}
