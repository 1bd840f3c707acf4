// Checks the slope from two values: on a line, whose slope every formula finds, and by the order of
// the error on curves.
#include "1_difference.hpp"

#include <fmt/format.h>

#include <cmath>

#include "common/checks.hpp"
#include "headroom/base/error.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library

using Curve = std::function<Real(Real)>;

constexpr Index points = 4;

/// Points, steps, and a cubic with random coefficients for each point.
struct Case {
  explicit Case(std::uint64_t seed, int degree) : rng(seed, "02/1") {
    for (Index i = 0; i < points; ++i) {
      Real c[4] = {};
      for (int power = 0; power <= degree; ++power) c[power] = rng.uniform(1, 2);
      curves.push_back([=](Real x) { return c[0] + x * (c[1] + x * (c[2] + x * c[3])); });
      slopes.push_back([=](Real x) { return c[1] + x * (2 * c[2] + x * 3 * c[3]); });
      x.push_back(rng.uniform(-1, 1));
    }
  }
  /// A formula for the slope, at each point.
  Array each(const std::function<Real(const Curve& f, Real x, Real h)>& formula, Real h) const {
    Array result({points});
    for (Index i = 0; i < points; ++i) {
      result[i] = formula(curves[std::size_t(i)], x[std::size_t(i)], h);
    }
    return result;
  }
  Array yours(Real h) const { return each(central_difference, h); }
  Array exact() const {
    Array result({points});
    for (Index i = 0; i < points; ++i) result[i] = slopes[std::size_t(i)](x[std::size_t(i)]);
    return result;
  }
  /// The slopes of the formula with four points, which is exact for cubics.
  Array with_four_points(Real h) const {
    const auto calls = [&](Real s) {
      Index count = 0;
      central_difference([&](Real at) { return ++count, at; }, 0, s);
      return count;
    };
    if (calls(h) != 4) throw UsageError("it does not look at four points");
    return exact();
  }
  /// Tested on e^x, whose slope is another one for every h, by any formula.
  chapter::Hypothesis step_ignored(Real h) const {
    return {"the slope does not depend on h: the caller says how long a step is", [=, this] {
              const Curve exponential = [](Real at) { return std::exp(at); };
              for (const Real at : x) {
                const Real slope = central_difference(exponential, at, h);
                for (const Real other : {h / 2, 2 * h}) {
                  if (central_difference(exponential, at, other) != slope) {
                    throw UsageError("it depends on h");
                  }
                }
              }
              return yours(h);
            }};
  }

  Rng rng;
  std::vector<Curve> curves, slopes;
  std::vector<Real> x;
};

const chapter::Names names{{"point"}, {}};

constexpr Real step = Real(0.25);

}  // namespace

TEST_CASE("the slope of a line", "[02/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed, 1);
    chapter::require_equal("the slopes of lines", c.exact(), c.yours(step), names,
                           {c.step_ignored(step)});
  }
}

TEST_CASE("the slope of a parabola, exact for every h", "[02/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed, 2);
    chapter::require_equal("right for lines, but the slopes of parabolas", c.exact(), c.yours(step),
                           names);
  }
}

TEST_CASE("the error is h^2 f''' / 6, as it must be", "[02/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed, 3);
    for (const Real h : {step, step / 2}) {
      // The third derivative of a cubic is constant: what is left is known exactly.
      const Array expected =
          c.each([](const Curve& f, Real x, Real s) { return (f(x + s) - f(x - s)) / (2 * s); }, h);
      chapter::require_equal(
          fmt::format("right for parabolas, but the slopes of cubics with h = {}", h), expected,
          c.yours(h), names,
          {c.step_ignored(h),
           {"it is the formula with four points: the slope of a cubic has no error then. Asked for "
            "is the one with two points, x + h and x - h",
            [&] { return c.with_four_points(h); }}});
    }
  }
}
