// Intervals against textbooks and against integrals of the densities that they come from.
#include "headroom/statistics/intervals.hpp"

#include <cmath>
#include <numeric>
#include <vector>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {
bool near(double a, double b, double tolerance = 1e-3) { return std::abs(a - b) <= tolerance; }

/// Student's t as mean_interval() uses it: the half width of an interval over the standard error.
double t_of_interval(std::size_t freedom) {
  std::vector<double> values(freedom + 1, 0.0);
  values[0] = 1;
  const Interval interval = mean_interval(values);
  const double n = double(values.size()), mean = 1 / n;
  const double variance = ((1 - mean) * (1 - mean) + (n - 1) * mean * mean) / (n - 1);
  return (interval.high - interval.value) / std::sqrt(variance / n);
}

/// The probability that a t-distributed number lies between -t and t: Simpson's rule on its
/// density, after x = tan(u) has made the range finite.
double probability_within(double t, double freedom) {
  const double scale = std::exp(std::lgamma((freedom + 1) / 2) - std::lgamma(freedom / 2)) /
                       std::sqrt(freedom * std::acos(-1.0));
  const double end = std::atan(t);
  constexpr int steps = 2000;
  double sum = 0;
  for (int i = 0; i <= steps; ++i) {
    const double u = end * i / steps, x = std::tan(u);
    const double density = scale * std::pow(1 + x * x / freedom, -(freedom + 1) / 2);
    const double weight = i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * density / (std::cos(u) * std::cos(u));
  }
  return 2 * sum * end / steps / 3;
}
}  // namespace

TEST_CASE("student's t leaves 5 % outside, for every number of values") {
  for (std::size_t freedom = 1; freedom <= 60; ++freedom) {
    INFO(freedom << " degrees of freedom, t = " << t_of_interval(freedom));
    CHECK(near(probability_within(t_of_interval(freedom), double(freedom)), 0.95, 1e-7));
  }
  CHECK(near(probability_within(t_of_interval(1000), 1000), 0.95, 1e-7));
}

TEST_CASE("the interval of a median covers few ranks of many values") {
  std::vector<double> values(2001);
  std::iota(values.begin(), values.end(), 0.0);
  const Interval found = median_interval(values);
  CHECK(found.value == 1000);
  // n/2 -+ 1.96 sqrt(n)/2
  CHECK(std::abs(found.low - (1000 - 43.8)) < 2);
  CHECK(std::abs(found.high - (1000 + 43.8)) < 2);
}

TEST_CASE("intervals are those of the textbooks") {
  const std::vector<double> five{1, 2, 3, 4, 5};  // s = sqrt(2.5), t(4) = 2.776
  const Interval mean = mean_interval(five);
  CHECK(mean.value == 3);
  CHECK(near(mean.low, 3 - 2.776 * std::sqrt(2.5 / 5)));
  CHECK(near(mean.high, 3 + 2.776 * std::sqrt(2.5 / 5)));
  const std::vector<double> sixty_one(61, 2.0);
  CHECK(near(mean_interval(sixty_one).high, 2, 1e-12));
  std::vector<double> many;  // t(60) = 2.000
  for (int i = 0; i < 61; ++i) many.push_back(i % 2);
  const Interval wide = mean_interval(many);
  const double p = 30.0 / 61, deviation = std::sqrt(p * (1 - p) / 60);
  CHECK(near((wide.high - wide.value) / deviation, 2.000, 2e-3));
  const Interval rate = rate_interval(36, 60);  // Wilson: [0.474, 0.714]
  CHECK(near(rate.low, 0.474));
  CHECK(near(rate.high, 0.714));
  CHECK(rate_interval(0, 10).low == 0);
  CHECK(near(rate_interval(0, 10).high, 0.2775));
  const Interval geometric = geometric_mean(std::vector<double>{1, 10, 100});
  CHECK(near(geometric.value, 10, 1e-9));  // of the logarithms s = ln 10, t(2) = 4.303
  CHECK(near(std::log(geometric.high / 10), 4.303 * std::log(10) / std::sqrt(3), 1e-2));
  CHECK(near(std::log(10 / geometric.low), 4.303 * std::log(10) / std::sqrt(3), 1e-2));
  CHECK_THROWS_AS(geometric_mean({}), UsageError);
  CHECK_THROWS_AS(mean_interval({}), UsageError);
  CHECK_THROWS_AS(rate_interval(3, 2), UsageError);
}

TEST_CASE("the interval of a mean of shares stays between 0 and 1") {
  // Mean 0.9, s = 0.1, h = 4.302652729749 * 0.1 / sqrt(3) = 0.248414, / 0.09 = 2.760153; logit of
  // 0.9 is log 9 = 2.197225, so the ends are 1 / (1 + exp(0.562928)) and 1 / (1 + exp(-4.957378)).
  const Interval high = share_interval(std::vector<double>{0.8, 0.9, 1.0});
  CHECK(near(high.value, 0.9, 1e-12));
  CHECK(near(high.low, 0.362870, 1e-5));
  CHECK(near(high.high, 0.993018, 1e-5));
  const Interval low = share_interval(std::vector<double>{0.2, 0.1, 0.0});
  CHECK(near(low.low, 1 - high.high, 1e-12));
  CHECK(near(low.high, 1 - high.low, 1e-12));
  for (const std::vector<double>& values :
       {std::vector<double>{0, 1}, {0, 0, 1e-3}, {1, 1 - 1e-9, 1}, {0.999, 0.9999, 1}}) {
    const Interval found = share_interval(values);
    CHECK(0 <= found.low);
    CHECK(found.low < found.value);
    CHECK(found.value < found.high);
    CHECK(found.high <= 1);
  }
  // Far from the ends it is nearly the t-interval; one value or equal ones have no width.
  const std::vector<double> middle{0.5, 0.51, 0.52};
  CHECK(near(share_interval(middle).low, mean_interval(middle).low, 1e-4));
  CHECK(share_interval(std::vector<double>{1, 1}).low == 1);
  CHECK(share_interval(std::vector<double>{0.3}).high == 0.3);
  // An error rate above 1 is no share.
  const std::vector<double> rates{0.9, 1.1};
  CHECK(share_interval(rates).high == mean_interval(rates).high);
  CHECK_THROWS_AS(share_interval({}), UsageError);
}

TEST_CASE("values that are equal up to rounding have an interval of no width") {
  // The mean of ten ones is summed from tenths, which is not 1 to the bit.
  const std::vector<double> ones(10, 1.0), sums{0.3, 0.1 + 0.2, 0.3}, zeros(4, 0.0);
  for (const std::vector<double>& values : {ones, sums, zeros}) {
    const Interval equal = mean_interval(values);
    CHECK(near(equal.value, values[0], 1e-12));
    CHECK(equal.low == equal.value);
    CHECK(equal.high == equal.value);
  }
  for (const double apart : {1e-11, 1e-3}) {
    const Interval different = mean_interval(std::vector<double>{1, 1 + apart, 1});
    CHECK(different.low < different.value);
    CHECK(different.value < different.high);
  }
  const Interval small = mean_interval(std::vector<double>{1e-20, 2e-20});  // by their own scale
  CHECK(small.low < small.high);
}

TEST_CASE("a median's interval leaves at most 5 % outside by the tosses of a coin") {
  std::vector<double> fifteen;  // P(at most 3 of 15) = 0.0176, P(at most 4) = 0.0592
  for (int i = 0; i < 15; ++i) fifteen.push_back((7 * i) % 15);
  const Interval middle = median_interval(fifteen);
  CHECK(middle.value == 7);
  CHECK(middle.low == 3);
  CHECK(middle.high == 11);
  const Interval few = median_interval(std::vector<double>{4, 1, 2});
  CHECK(few.value == 2);
  CHECK(few.low == 1);
  CHECK(few.high == 4);
  std::vector<double> six{6, 5, 4, 3, 2, 1};  // P(0 of 6) = 0.0156
  CHECK(median_interval(six).low == 1);
  six.insert(six.end(), {7, 8, 9});  // P(at most 1 of 9) = 0.0195
  CHECK(median_interval(six).low == 2);
  CHECK(median_interval(six).high == 8);
  CHECK_THROWS_AS(median_interval({}), UsageError);
}
