// Each feature of xtensor that the library uses, under C++20 and with SIMD, against plain loops.
// Other features are not used: some of them are wrong in this combination.
#include "array/xtensor.hpp"

#include <cmath>
#include <xtensor/xarray.hpp>

#include "support/close.hpp"
#include "support/random.hpp"

using namespace headroom;
using test::CloseTo;

namespace {

// Lengths around the SIMD widths: whole vectors, tails, single elements.
const Index lengths[] = {1, 2, 7, 8, 9, 31, 64, 65, 1000};

/// Compares an expression over two flat arrays with the same formula over two numbers.
template <class Expression, class Formula>
void check(const char* name, Real low, Real high, Expression expression, Formula formula) {
  INFO(name);
  Rng rng(4, name);
  for (const Index n : lengths) {
    const Array a = test::uniform({n}, rng, low, high), b = test::uniform({n}, rng, low, high);
    Array y({n}), expected({n});
    auto out = flat(y.data(), n);
    xt::noalias(out) = expression(flat(a.data(), n), flat(b.data(), n));
    for (Index i = 0; i < n; ++i) expected[i] = formula(a[i], b[i]);
    const Real tolerance = test::tolerance(1e-14, 1e-6);
    CHECK_THAT(y, CloseTo(expected, tolerance, tolerance));
  }
}

}  // namespace

TEST_CASE("xtensor: arithmetic") {
  check(
      "add", -3, 3, [](const auto& a, const auto& b) { return a + b; },
      [](Real a, Real b) { return a + b; });
  check(
      "subtract, negate", -3, 3, [](const auto& a, const auto& b) { return -a - b; },
      [](Real a, Real b) { return -a - b; });
  check(
      "multiply", -3, 3, [](const auto& a, const auto& b) { return a * b * Real(0.5); },
      [](Real a, Real b) { return a * b * Real(0.5); });
  check(
      "divide", 1, 3, [](const auto& a, const auto& b) { return Real(1) / a / b; },
      [](Real a, Real b) { return Real(1) / a / b; });
}

TEST_CASE("xtensor: functions of one number") {
  check(
      "exp", -20, 20, [](const auto& a, const auto&) { return xt::exp(a); },
      [](Real a, Real) { return std::exp(a); });
  check(
      "log", Real(0.01), 20, [](const auto& a, const auto&) { return xt::log(a); },
      [](Real a, Real) { return std::log(a); });
  check(
      "tanh", -5, 5, [](const auto& a, const auto&) { return xt::tanh(a); },
      [](Real a, Real) { return std::tanh(a); });
  check(
      "erf", -4, 4, [](const auto& a, const auto&) { return xt::erf(a); },
      [](Real a, Real) { return std::erf(a); });
  check(
      "sqrt", 0, 20, [](const auto& a, const auto&) { return xt::sqrt(a); },
      [](Real a, Real) { return std::sqrt(a); });
  check(
      "abs", -3, 3, [](const auto& a, const auto&) { return xt::abs(a); },
      [](Real a, Real) { return std::abs(a); });
}

TEST_CASE("xtensor: minimum, maximum, where") {
  check(
      "minimum", -3, 3, [](const auto& a, const auto& b) { return xt::minimum(a, b); },
      [](Real a, Real b) { return std::min(a, b); });
  check(
      "maximum", -3, 3, [](const auto& a, const auto&) { return xt::maximum(a, Real(0)); },
      [](Real a, Real) { return std::max(a, Real(0)); });
  check(
      "where", -3, 3, [](const auto& a, const auto& b) { return xt::where(a > b, a, Real(2)); },
      [](Real a, Real b) { return a > b ? a : Real(2); });
}

TEST_CASE("xtensor: noalias writes and adds in place, keeping the buffer") {
  Array x(Shape{100}, Real(3)), sum(Shape{100}, Real(1));
  const Real* const buffer = sum.data();
  auto out = flat(sum.data(), 100);
  xt::noalias(out) += flat(x.data(), 100) * Real(2);
  CHECK(sum.data() == buffer);
  CHECK_THAT(sum, CloseTo(Array(Shape{100}, Real(7)), 0, 0));
  xt::noalias(out) = flat(x.data(), 100);
  CHECK(sum[99] == 3);
}

TEST_CASE("xtensor: reductions evaluated at once, with and without kept axes") {
  Rng rng(5);
  for (const Index rows : {1, 3, 8}) {
    for (const Index columns : lengths) {
      const Array x = test::uniform({rows, columns}, rng, Real(-3), Real(3));
      const std::array<std::size_t, 2> shape{static_cast<std::size_t>(rows),
                                             static_cast<std::size_t>(columns)};
      const auto view =
          xt::adapt(x.data(), static_cast<std::size_t>(x.size()), xt::no_ownership(), shape);
      const auto now = xt::evaluation_strategy::immediate;
      const xt::xarray<Real> total = xt::sum(view, {1}, now);
      const xt::xarray<Real> largest = xt::amax(view, {1}, xt::keep_dims | now);
      REQUIRE(largest.shape()[1] == 1);
      Array sums({rows}), maxima({rows}), got_sums({rows}), got_maxima({rows});
      for (Index r = 0; r < rows; ++r) {
        sums[r] = 0;
        maxima[r] = x[r * columns];
        for (Index c = 0; c < columns; ++c) {
          sums[r] += x[r * columns + c];
          maxima[r] = std::max(maxima[r], x[r * columns + c]);
        }
        got_sums[r] = total(static_cast<std::size_t>(r));
        got_maxima[r] = largest(static_cast<std::size_t>(r), 0);
      }
      CHECK_THAT(got_sums, CloseTo(sums, 0, test::tolerance(1e-11, 1e-3)));
      CHECK_THAT(got_maxima, CloseTo(maxima, 0, 0));
    }
  }
}
