// Regret: the way to the best subset of a size, by brute force, and its standard errors.
#include "headroom_measure/importance/regret.hpp"

#include <bit>
#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom_measure/importance/shapley.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {

bool equal_to_rounding(double a, double b) { return std::abs(a - b) < 1e-12; }

}  // namespace

TEST_CASE("the most important players are kept, of equal ones the first") {
  const std::vector<double> importance{0.5, 2, -1, 2, 0.5};
  CHECK(most_important(importance, 0) == HeadSet());
  CHECK(most_important(importance, 1).bits() == 0b00010);
  CHECK(most_important(importance, 3).bits() == 0b01011);
  CHECK(most_important(importance, 5) == HeadSet::all(5));
  CHECK_THROWS_AS(most_important(importance, 6), UsageError);
  CHECK_THROWS_AS(most_important(importance, -1), UsageError);
}

TEST_CASE("regret is the way from the best subset of a size to a random one") {
  Rng rng(7, "game");
  std::vector<double> values(32);
  for (double& value : values) value = double(rng.normal());
  const RegretScale scale(values, 5);
  const std::vector<HeadSet> best = best_subsets(values, 5);
  for (std::size_t subset = 0; subset < values.size(); ++subset) {
    const Index size = std::popcount(subset);
    double sum = 0, count = 0;
    for (std::size_t other = 0; other < values.size(); ++other) {
      if (std::popcount(other) != size) continue;
      sum += values[other];
      ++count;
    }
    const double least = values[best[std::size_t(size)].bits()];
    const Regret regret = scale.of(HeadSet::of_bits(subset));
    CHECK(equal_to_rounding(scale.best(size), least));
    CHECK(equal_to_rounding(scale.random(size), sum / count));
    CHECK(equal_to_rounding(regret.nats, values[subset] - least));
    CHECK(regret.nats_error == 0);
    if (count == 1) {
      CHECK(std::isnan(regret.share));  // there is no other subset
    } else {
      CHECK(equal_to_rounding(regret.share, (values[subset] - least) / (sum / count - least)));
    }
  }
  CHECK_THROWS_WITH(RegretScale(values, 4), Catch::Contains("32 values for 4 players"));
}

TEST_CASE("standard errors are those of means over examples") {
  // One of two players is better by 1 in the mean, with a deviation of 0.5 over the examples.
  Rng rng(9, "losses");
  constexpr std::size_t examples = 100;
  std::vector<std::vector<double>> losses(4, std::vector<double>(examples));
  double sum = 0, squares = 0;
  for (std::size_t x = 0; x < examples; ++x) {
    const double common = double(rng.normal()), more = 1 + 0.5 * double(rng.normal());
    losses[0][x] = losses[3][x] = common;
    losses[1][x] = common;
    losses[2][x] = common + more;
    sum += more;
    squares += more * more;
  }
  const double mean = sum / examples;
  const double error = std::sqrt((squares / examples - mean * mean) / examples);
  const RegretScale scale(losses, 2, 2000, Rng(3));
  const Regret worse = scale.of(HeadSet::of_bits(2)), better = scale.of(HeadSet::of_bits(1));
  CHECK(equal_to_rounding(worse.nats, mean));
  CHECK(std::abs(worse.nats_error / error - 1) < 0.06);  // 4 standard errors of 2000 resamples
  CHECK(equal_to_rounding(worse.share, 2));              // chance is half of the way
  CHECK(worse.share_error < 1e-9);
  CHECK(better.nats == 0);
  CHECK(better.nats_error == 0);
}

TEST_CASE("every example can be drawn for a standard error, the last one too") {
  // Only the last example tells the players apart, by n. A bootstrap sample contains it k times,
  // k binomial with n draws of probability 1/n, so that the regret is k: its variance is 1 - 1/n.
  for (const std::size_t examples : {std::size_t{2}, std::size_t{3}}) {
    for (const std::size_t different : {examples - 1, std::size_t{0}}) {
      std::vector<std::vector<double>> losses(4, std::vector<double>(examples, 1));
      losses[2][different] += double(examples);
      const RegretScale scale(losses, 2, 4000, Rng(5));
      const Regret worse = scale.of(HeadSet::of_bits(2));
      CHECK(equal_to_rounding(worse.nats, 1));
      CHECK(std::abs(worse.nats_error - std::sqrt(1 - 1 / double(examples))) < 0.04);
    }
  }
}
