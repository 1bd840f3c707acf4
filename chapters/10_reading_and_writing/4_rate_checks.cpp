// Checks RateSchedule::operator() against the formulas, as curves over the steps. The hypotheses
// are other curves.
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

/// The mistakes that a curve may have.
struct Way {
  bool from_start = false, all_steps = false, unbounded = false, floor_added = false;
  bool no_floor = false, whole_wave = false, rises = false, without_root_of_warmup = false;
  bool no_one = false, from_zero = false;
  enum class Warmup { right, zero, integers, none, from_floor, longer } warmup = Warmup::right;
};

double rate(const RateOptions& o, double s, const Way& way) {
  const auto w = double(o.warmup), n = double(o.steps);
  if (s < w) {
    switch (way.warmup) {
      case Way::Warmup::right: return o.peak * (s + 1) / w;
      case Way::Warmup::zero: return o.peak * s / w;
      case Way::Warmup::integers: return s + 1 < w ? 0 : o.peak;
      case Way::Warmup::none: return o.peak;
      case Way::Warmup::from_floor: return o.floor + (o.peak - o.floor) * (s + 1) / w;
      case Way::Warmup::longer: return o.peak * (s + 1) / (w + 1);
    }
  }
  double x = way.from_start ? s / n : (s - w) / (way.all_steps ? n : n - w);
  if (!way.unbounded) x = std::min(1.0, x);
  const double floor = way.no_floor ? 0 : o.floor;
  const double span = way.floor_added ? o.peak : o.peak - floor;
  switch (o.shape) {
    case RateShape::constant: return o.peak;
    case RateShape::cosine:
      return floor + span * (1 + std::cos((way.whole_wave ? 2 : 1) * std::numbers::pi * x)) / 2;
    case RateShape::linear: return floor + span * (way.rises ? x : 1 - x);
    case RateShape::inverse_root: {
      const double root = way.without_root_of_warmup ? 1 : way.no_one ? w : std::max(1.0, w);
      return o.peak * std::sqrt(root / (way.from_zero ? std::max(1.0, s) : s + 1));
    }
  }
  return 0;
}

/// Compares the curve of a schedule with the formula, and with what mistakes make of it.
void check(const RateOptions& o, Index count) {
  const auto with = [&](const char* text, auto edit) {
    Way way;
    edit(way);
    return chapter::Hypothesis{
        text, [=] { return curve(count, [&](double s) { return rate(o, s, way); }); }};
  };
  chapter::require_equal(
      "the learning rates", curve(count, [&](double s) { return rate(o, s, {}); }), yours(o, count),
      names,
      {with("the first learning rate is 0, so the first step learns nothing, and the peak is never "
            "reached in the warm-up. Step s gets (s + 1) / warmup of the peak",
            [](Way& w) { w.warmup = Way::Warmup::zero; }),
       with("an integer was divided by a larger one, which gives 0",
            [](Way& w) { w.warmup = Way::Warmup::integers; }),
       with("there is no warm-up: these steps have the peak already",
            [](Way& w) { w.warmup = Way::Warmup::none; }),
       with("the warm-up begins at the floor: it rises from 0, in equal parts of the peak",
            [](Way& w) { w.warmup = Way::Warmup::from_floor; }),
       with("the warm-up takes one step too many: its last step, warmup - 1, has the peak",
            [](Way& w) { w.warmup = Way::Warmup::longer; }),
       with("x counts from step 0, not from the end of the warm-up: the curve jumps down there",
            [](Way& w) { w.from_start = true; }),
       with("x was divided by all steps, so it does not get to 1 in step `steps`",
            [](Way& w) { w.all_steps = true; }),
       with(o.shape == RateShape::cosine
                ? "after the last step, x grows on, and a cosine rises again"
                : "after the last step, x grows on, and the learning rate becomes negative",
            [](Way& w) { w.unbounded = true; }),
       with("the floor was added to the whole curve, which now begins above the peak",
            [](Way& w) { w.floor_added = true; }),
       with("the floor was left out", [](Way& w) { w.no_floor = true; }),
       with("the curve is a whole wave, down and up again; half of it is needed",
            [](Way& w) { w.whole_wave = true; }),
       with("the rate rises from the floor to the peak", [](Way& w) { w.rises = true; }),
       with("it does not begin at the peak: the root of the warm-up is missing",
            [](Way& w) { w.without_root_of_warmup = true; }),
       with("without a warm-up the learning rate is 0, for ever: w is then 1",
            [](Way& w) { w.no_one = true; }),
       with("the step was counted from 0: the formula has step + 1",
            [](Way& w) { w.from_zero = true; })});
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
