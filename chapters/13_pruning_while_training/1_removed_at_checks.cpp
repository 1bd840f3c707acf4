// Checks removed_at against the formula in whole numbers, step by step, and then in another order.
#include <fmt/format.h>

#include "common/checks.hpp"
#include "headroom_measure/pruning/schedules.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library

/// The number of heads for the part removals * every / length of the way: total (1 - (1 - p)^3),
/// rounded down, in whole numbers.
Index cubic(Index total, Index way, Index length) {
  const Index left = length - way;
  return total * (length * length * length - left * left * left) / (length * length * length);
}

/// The numbers of heads that are gone after each step from 0 to a little after the end.
template <class Number>
Array over_steps(const Gradual& pace, Number number) {
  Array numbers({pace.to + 3});
  for (Index step = 0; step < numbers.size(); ++step) numbers[step] = Real(number(step));
  return numbers;
}

/// A schedule, and what it must say.
struct Case {
  Gradual pace;
  Index total;

  Array expected() const {
    const Index length = pace.to - pace.from;
    return over_steps(pace, [&](Index step) {
      if (step <= pace.from) return Index{0};
      const Index removals = (step - pace.from) / pace.every;
      return step >= pace.to ? total : cubic(total, removals * pace.every, length);
    });
  }
  void check() const {
    chapter::require_equal(
        fmt::format("the numbers of removed heads of {} with Gradual{{{}, {}, {}}}", total,
                    pace.from, pace.to, pace.every),
        expected(),
        over_steps(pace, [&](Index step) { return removed_at(Pace(pace), total, step); }),
        {{"step"}, {}});
  }
};

/// Schedules whose interval divides the way or does not.
Case random_case(std::uint64_t seed, bool divides) {
  Rng rng(seed, divides ? "13/1 divides" : "13/1");
  const Index every = 2 + Index(rng.below(6)), from = 3 + Index(rng.below(20));
  const Index length = every * (5 + Index(rng.below(8))) + (divides ? 0 : 1);
  return {{from, from + length, every}, 9 + Index(rng.below(30))};
}

}  // namespace

TEST_CASE("24 heads in 10 removals", "[13/1]") { Case{{20, 60, 4}, 24}.check(); }

TEST_CASE("other numbers", "[13/1]") {
  for (const std::uint64_t seed : chapter::seeds) random_case(seed, true).check();
}

TEST_CASE("an interval that does not divide the way", "[13/1]") {
  for (const std::uint64_t seed : chapter::seeds) random_case(seed, false).check();
}

TEST_CASE("whole numbers that rounding makes smaller", "[13/1]") {
  for (Index thirds = 1; thirds <= 40; ++thirds) Case{{0, 3 * thirds, thirds}, 27}.check();
  for (Index tenths = 1; tenths <= 5; ++tenths) Case{{5, 5 + 10 * tenths, tenths}, 1000}.check();
}

TEST_CASE("a run that is resumed asks for other steps than the one before", "[13/1]") {
  const Gradual pace{20, 60, 4};
  for (const Index step : {50, 30, 58, 22, 41}) {
    const Index expected = cubic(24, (step - 20) / 4 * 4, 40);
    const Index yours = removed_at(Pace(pace), 24, step);
    chapter::require(
        yours == expected,
        fmt::format("{} heads are gone after step {}, expected {}: your result depends on what was "
                    "asked before. It must follow from the step alone: a run that is resumed has "
                    "asked nothing.",
                    yours, step, expected));
  }
}

TEST_CASE("the other schedules", "[13/1]") {
  for (Index step = 0; step < 12; ++step) {
    chapter::require(removed_at(OneShot{5}, 7, step) == (step >= 5 ? 7 : 0),
                     "OneShot is not as it was in the file.");
    const Index rounds = step < 2 ? 0 : std::min<Index>(3, (step - 2) / 4 + 1);
    chapter::require(removed_at(Iterative{2, 3, 4}, 7, step) == 7 * rounds / 3,
                     "Iterative is not as it was in the file.");
  }
}
