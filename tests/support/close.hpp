// Matchers for arrays: close to another one within a tolerance, or the same to the bit. A failure
// prints the index of the worst element, the expected and the actual value.
#pragma once

#include "headroom/array/array.hpp"
#include "support/catch.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

/// |actual - expected| <= atol + rtol |expected| for every element, and equal shapes. Infinities
/// must be equal; a NaN is close to nothing.
class CloseTo : public Catch::MatcherBase<Array> {
 public:
  CloseTo(Array expected, Real rtol, Real atol)
      : expected_(std::move(expected)), rtol_(rtol), atol_(atol) {}
  bool match(const Array& actual) const override;
  std::string describe() const override;

 private:
  Array expected_;
  Real rtol_, atol_;
  mutable std::string verdict_;
};

/// max |actual - expected| <= tolerance * max |expected|: compares two computations of the same
/// function, where single elements may be small by cancellation. `at_least` is the minimum of the
/// scale, for results that are small because of cancellation.
CloseTo close_at_scale(const Array& expected, Real tolerance, Real at_least = 0);

/// Returns the tolerance for this build's precision.
constexpr Real tolerance(double in_double, double in_float) {
  return Real(is_double ? in_double : in_float);
}

/// Equal shapes and equal bits.
class SameBits : public Catch::MatcherBase<Array> {
 public:
  explicit SameBits(Array expected) : expected_(std::move(expected)) {}
  bool match(const Array& actual) const override;
  std::string describe() const override;

 private:
  Array expected_;
  mutable std::string verdict_;
};

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom

namespace Catch {
/// Prints arrays as shape and first elements.
template <>
struct StringMaker<headroom::Array> {
  static std::string convert(const headroom::Array& array);
};
template <>
struct StringMaker<headroom::Shape> {
  static std::string convert(const headroom::Shape& shape) { return shape.text(); }
};
}  // namespace Catch
