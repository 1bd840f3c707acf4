// Checks both functions against a textbook, against their formulas in another order of operations,
// and by their promise: of many experiments with five seeds, 95 % of the intervals contain the
// truth.
#include "4_interval.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "common/checks.hpp"
#include "headroom/statistics/contrasts.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library

using Values = std::vector<double>;
const chapter::Names names{{"value, low, high"}, {}};

Array as_array(const Interval& interval) {
  Array result({3});
  result[0] = Real(interval.value);
  result[1] = Real(interval.low);
  result[2] = Real(interval.high);
  return result;
}

Array around(double value, double half) { return as_array({value, value - half, value + half}); }

double mean_of(const Values& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

/// The standard deviation, from the differences of all pairs.
double deviation_of(const Values& values) {
  double squares = 0;
  for (const double x : values) {
    for (const double y : values) squares += (x - y) * (x - y) / 2;
  }
  const double n = double(values.size());
  return std::sqrt(squares / n / (n - 1));
}

double half_of(const Values& values) {
  const std::size_t n = values.size();
  return student_t(n - 1) * deviation_of(values) / std::sqrt(double(n));
}

void check_mean(const std::string& subject, const Values& values) {
  chapter::require_equal(subject, around(mean_of(values), half_of(values)),
                         as_array(mean_interval(values)), names);
}

Values drawn(Index n, Rng& rng) {
  const Array numbers = chapter::random_array({n}, rng);
  Values values;
  for (Index i = 0; i < n; ++i) values.push_back(3 + double(numbers[i]));
  return values;
}

/// Two lists whose pairs move together: each seed has a level of its own.
struct Pairs {
  explicit Pairs(std::uint64_t seed, Index n = 5) {
    Rng rng(seed, "13/4 pairs");
    const Values level = drawn(n, rng), first = drawn(n, rng), second = drawn(n, rng);
    for (std::size_t i = 0; i < level.size(); ++i) {
      a.push_back(10 * level[i] + first[i]);
      b.push_back(10 * level[i] + second[i]);
    }
  }
  Values differences() const {
    Values result;
    for (std::size_t i = 0; i < a.size(); ++i) result.push_back(a[i] - b[i]);
    return result;
  }
  Values a, b;
};

}  // namespace

TEST_CASE("1, 2, 3, 4, 5", "[13/4]") {
  check_mean("the numbers of 1, 2, 3, 4, 5", {1, 2, 3, 4, 5});
}

TEST_CASE("random values", "[13/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "13/4");
    for (const Index n : {2, 3, 8, 30}) {
      check_mean(fmt::format("the numbers of {} values", n), drawn(n, rng));
    }
  }
}

TEST_CASE("the same values, far from 0", "[13/4]") {
  // So far that the squares of the values lose the digits in which the values differ.
  constexpr double far = is_double ? 1e4 : 1e7;
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "13/4");
    const Values near = drawn(5, rng);
    Values values = near;
    for (double& value : values) value += far;
    const Interval yours = mean_interval(values);
    const std::string text = chapter::difference(
        fmt::format("the numbers of 5 values plus {:g}, without {:g},", far, far),
        around(mean_of(near), half_of(near)),
        as_array({yours.value - far, yours.low - far, yours.high - far}), names);
    chapter::require(text.empty(),
                     text + "\nThe same values were right before " + fmt::format("{:g}", far) +
                         " was added to all of them, which does not change their spread. The "
                         "squares of large numbers lose the digits in which they differ: sum the "
                         "squares of v - m.");
  }
}

TEST_CASE("a single value", "[13/4]") {
  const Array yours = as_array(mean_interval(Values{7}));
  chapter::require(!std::isnan(yours[1]) && !std::isnan(yours[2]),
                   "a single value has no interval that is a number: 0 squares were divided by "
                   "0. Return low = high = value.");
  chapter::require_equal("the numbers of the value 7", around(7, 0), yours, names);
}

TEST_CASE("pairs", "[13/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Pairs pairs(seed);
    const Values d = pairs.differences();
    chapter::require_equal("the numbers of the difference", around(mean_of(d), half_of(d)),
                           as_array(paired_interval(pairs.a, pairs.b)), names);
    const Interval of_library = paired_contrast(pairs.a, pairs.b).interval.value();
    chapter::require_equal("the numbers of the library's paired_contrast()",
                           as_array(paired_interval(pairs.a, pairs.b)), as_array(of_library),
                           names);
  }
}

TEST_CASE("95 of 100 intervals contain the truth", "[13/4]") {
  Rng rng(1, "13/4 coverage");
  constexpr int all = 4000;
  int right = 0;
  for (int i = 0; i < all; ++i) {
    const Interval interval = mean_interval(drawn(5, rng));
    right += interval.low <= 3 && 3 <= interval.high ? 1 : 0;
  }
  const double share = 100.0 * right / all;
  chapter::require(
      share > 93.5 && share < 96.5,
      fmt::format("{:.1f} % of {} intervals contain the truth, expected 95.", share, all));
}
