// Shapley and Banzhaf values, dividends and best subsets: axioms, games by hand, brute force.
#include "headroom_measure/importance/shapley.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "headroom/base/error.hpp"
#include "headroom/base/rng.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {

std::vector<double> random_game(Index players, std::uint64_t seed) {
  Rng rng(seed, "game");
  std::vector<double> values(std::size_t{1} << players);
  for (double& value : values) value = double(rng.normal());
  return values;
}

/// The contributions of all players, averaged over all orders, one after the other.
std::vector<double> by_orders(const std::vector<double>& values, Index players) {
  std::vector<std::size_t> order(static_cast<std::size_t>(players));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> sums(order.size());
  double orders = 0;
  do {
    std::size_t present = 0;
    for (const std::size_t player : order) {
      const std::size_t with = present | std::size_t{1} << player;
      sums[player] += values[present] - values[with];
      present = with;
    }
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  for (double& sum : sums) sum /= orders;
  return sums;
}

bool close(double a, double b) { return std::abs(a - b) < 1e-12; }

}  // namespace

TEST_CASE("Shapley values are the mean contribution over all orders") {
  for (Index players = 1; players <= 6; ++players) {
    const std::vector<double> values = random_game(players, 3);
    const std::vector<double> exact = exact_shapley(values, players),
                              expected = by_orders(values, players);
    for (std::size_t h = 0; h < exact.size(); ++h) CHECK(close(exact[h], expected[h]));
    CHECK(close(std::accumulate(exact.begin(), exact.end(), 0.0), values[0] - values.back()));
  }
}

TEST_CASE(
    "twins have equal values, a player without effect has none, additive games are additive") {
  // Players 0 and 1 are twins (one of them is enough), 2 has no effect, 3 is worth 5 by itself.
  std::vector<double> values(16);
  for (std::size_t subset = 0; subset < 16; ++subset) {
    values[subset] = 10 - ((subset & 3) != 0 ? 2 : 0) - ((subset & 8) != 0 ? 5 : 0);
  }
  for (const auto& scores : {exact_shapley(values, 4), exact_banzhaf(values, 4)}) {
    CHECK(close(scores[0], 1));
    CHECK(close(scores[1], 1));
    CHECK(close(scores[2], 0));
    CHECK(close(scores[3], 5));
  }
  // Three players of whom all are needed: orders and subsets weigh differently.
  std::vector<double> all_needed(8, 6.0);
  all_needed[7] = 0;
  CHECK(close(exact_shapley(all_needed, 3)[0], 2));
  CHECK(close(exact_banzhaf(all_needed, 3)[0], 1.5));
}

TEST_CASE("dividends add up to the values of all subsets") {
  const std::vector<double> values = random_game(5, 4), parts = dividends(values, 5);
  for (std::size_t subset = 0; subset < values.size(); ++subset) {
    double sum = 0;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      if ((part & subset) == part) sum += parts[part];
    }
    CHECK(close(sum, values[subset]));
  }
  // The dividend of a pair: its value together minus the values one by one.
  CHECK(close(parts[3], values[3] - values[1] - values[2] + values[0]));
}

TEST_CASE("the best subset of each size has the smallest loss") {
  const std::vector<double> values = random_game(5, 7);
  const std::vector<HeadSet> best = best_subsets(values, 5);
  REQUIRE(best.size() == 6);
  for (std::size_t subset = 0; subset < values.size(); ++subset) {
    const HeadSet winner = best[std::size_t(std::popcount(subset))];
    CHECK(std::popcount(winner.bits()) == std::popcount(subset));
    CHECK(values[winner.bits()] <= values[subset]);
  }
}

TEST_CASE("pairs that cover for each other interact positively, useless ones negatively") {
  // 0 and 1: either is enough, worth 2. 2 and 3: only both are worth 3. 4: worth 1 by itself.
  std::vector<double> values(32);
  for (std::size_t subset = 0; subset < 32; ++subset) {
    values[subset] = 10 - ((subset & 3) != 0 ? 2 : 0) - ((subset & 12) == 12 ? 3 : 0) -
                     ((subset & 16) != 0 ? 1 : 0);
  }
  const auto interactions = pair_interactions(values, 5), own = pair_dividends(values, 5);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      const std::pair<std::size_t, std::size_t> pair(std::min(i, j), std::max(i, j));
      const bool covering = pair == std::pair(std::size_t{0}, std::size_t{1}),
                 needing = pair == std::pair(std::size_t{2}, std::size_t{3});
      CHECK(close(interactions[i][j], covering ? 2 : needing ? -3 : 0));
      CHECK(close(own[i][j], covering ? 2 : needing ? -3 : 0));
    }
  }
  // Where more than pairs matter, both differ: one is at the whole model, one at the empty one.
  std::vector<double> all_needed(8, 6.0);
  all_needed[7] = 0;
  CHECK(close(pair_interactions(all_needed, 3)[0][2], -6));
  CHECK(close(pair_dividends(all_needed, 3)[0][2], 0));
  // Triples: 0, 1 and 4 are together worth 7 more than their parts; larger subsets are not read.
  for (std::size_t subset = 0; subset < 32; ++subset) {
    if ((subset & 19) == 19) values[subset] -= 7;
    if (std::popcount(subset) > 3) values[subset] = std::nan("");
  }
  const std::vector<double> triples = triple_dividends(values, 5);
  REQUIRE(triples.size() == 10);
  std::size_t place = 0;
  for (std::size_t subset = 0; subset < 32; ++subset) {
    if (std::popcount(subset) == 3) CHECK(close(triples[place++], subset == 19 ? -7 : 0));
  }
}

TEST_CASE("exact values satisfy the axioms of the sum and of twins") {
  for (const std::uint64_t seed : {11U, 12U, 13U}) {
    const ShapleyAxioms axioms = shapley_axioms(random_game(7, seed), 7);
    CHECK(axioms.sum_error < 1e-13);
    CHECK(axioms.twin_error < 1e-13);
  }
}

TEST_CASE("95 % intervals of sampled values hold the exact ones in 90 to 99 % of 240 cases") {
  const std::vector<double> values = random_game(12, 5);
  for (const Index orders : {20, 40, 100}) {
    const SampledCoverage coverage = sampled_coverage(values, 12, orders, 20, 1);
    INFO(orders << " orders: " << coverage.inside);
    CHECK(coverage.cases == 240);
    CHECK(coverage.inside >= 216);
    CHECK(coverage.inside <= 237);
  }
  CHECK_THROWS_WITH(sampled_coverage(values, 12, 7, 1, 1), Catch::Contains("come in pairs"));
}

TEST_CASE("a wrong number of values is refused") {
  const std::vector<double> seven(7);
  CHECK_THROWS_WITH(exact_shapley(seven, 3), Catch::Contains("7 values for 3 players"));
  CHECK_THROWS_AS(exact_banzhaf(seven, 3), UsageError);
  CHECK_THROWS_AS(dividends(seven, 3), UsageError);
  CHECK_THROWS_AS(best_subsets(seven, 3), UsageError);
  CHECK_THROWS_AS(pair_interactions(seven, 3), UsageError);
  CHECK_THROWS_AS(pair_dividends(seven, 3), UsageError);
  CHECK_THROWS_AS(shapley_axioms(seven, 3), UsageError);
}
