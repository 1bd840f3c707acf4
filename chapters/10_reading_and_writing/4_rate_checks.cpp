// Checks RateSchedule::operator() against the formulas, as curves over the steps.
#include <cmath>
#include <numbers>

#include "common/checks.hpp"
#include "headroom/optim/rate.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library

const chapter::Names names{{"step"}, {}};

/// A curve of `count` steps by a formula for one step.
template <class Formula>
Array curve(Index count, Formula formula) {
  Array result({count});
  for (Index s = 0; s < count; ++s) result[s] = Real(formula(double(s)));
  return result;
}

Array yours(const RateOptions& options, Index count) {
  const RateSchedule rate(options);
  return curve(count, [&](double s) { return rate(Index(s)); });
}

double rate(const RateOptions& o, double s) {
  const auto w = double(o.warmup), n = double(o.steps);
  if (s < w) return o.peak * (s + 1) / w;
  const double x = std::min(1.0, (s - w) / (n - w)), span = o.peak - o.floor;
  switch (o.shape) {
    case RateShape::constant: return o.peak;
    case RateShape::cosine: return o.floor + span * (1 + std::cos(std::numbers::pi * x)) / 2;
    case RateShape::linear: return o.floor + span * (1 - x);
    case RateShape::inverse_root: return o.peak * std::sqrt(std::max(1.0, w) / (s + 1));
  }
  return 0;
}

/// Compares the curve of a schedule with the formula.
void check(const RateOptions& o, Index count) {
  chapter::require_equal("the learning rates", curve(count, [&](double s) { return rate(o, s); }),
                         yours(o, count), names);
}

}  // namespace

TEST_CASE("warm-up, then constant", "[10/4]") {
  for (const Index warmup : {1, 2, 5, 10}) {
    check({.shape = RateShape::constant, .peak = 2, .warmup = warmup}, 14);
  }
  check({.shape = RateShape::constant, .peak = 3}, 4);
}

TEST_CASE("cosine", "[10/4]") {
  for (const Index warmup : {0, 4, 7}) {
    check({.shape = RateShape::cosine, .peak = 2, .warmup = warmup, .steps = 16, .floor = 0.3}, 17);
  }
}

TEST_CASE("linear", "[10/4]") {
  for (const Index warmup : {0, 4, 7}) {
    check({.shape = RateShape::linear, .peak = 2, .warmup = warmup, .steps = 16, .floor = 0.3}, 17);
  }
}

TEST_CASE("inverse root", "[10/4]") {
  for (const Index warmup : {4, 9}) {
    check({.shape = RateShape::inverse_root, .peak = 2, .warmup = warmup}, 30);
  }
}

TEST_CASE("inverse root without a warm-up", "[10/4]") {
  check({.shape = RateShape::inverse_root, .peak = 2}, 30);
}

TEST_CASE("cosine and linear, after the last step", "[10/4]") {
  for (const RateShape shape : {RateShape::cosine, RateShape::linear}) {
    check({.shape = shape, .peak = 2, .warmup = 3, .steps = 12, .floor = 0.3}, 40);
  }
}

TEST_CASE("the formula of the paper", "[10/4]") {
  const double width = 512, warmup = 4000;
  const RateSchedule schedule({.shape = RateShape::inverse_root,
                               .peak = 1 / std::sqrt(width * warmup),
                               .warmup = Index(warmup)});
  for (const Index step : {1, 100, 3999, 4000, 4001, 100000}) {  // the paper counts from 1
    const auto s = double(step);
    const double right =
        std::pow(width, -0.5) * std::min(std::pow(s, -0.5), s * std::pow(warmup, -1.5));
    chapter::require(std::abs(schedule(step - 1) - right) < 1e-12,
                     "it is not the paper's curve, width^-0.5 min(s^-0.5, s warmup^-1.5), which "
                     "counts its steps s from 1.");
  }
}
