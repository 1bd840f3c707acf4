// Shapley and Banzhaf values, dividends and best subsets: axioms, games by hand, brute force.
#include "headroom/heads/shapley.hpp"

#include <algorithm>
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

TEST_CASE("the best subset of each size has the smallest loss, and regret measures the way to it") {
  const std::vector<double> values = random_game(5, 7);
  const std::vector<HeadSet> best = best_subsets(values, 5);
  REQUIRE(best.size() == 6);
  for (Index kept = 0; kept <= 5; ++kept) {
    const std::uint64_t winner = best[std::size_t(kept)].bits();
    CHECK(std::popcount(winner) == kept);
    double sum = 0, count = 0;
    for (std::size_t subset = 0; subset < values.size(); ++subset) {
      if (std::popcount(subset) != kept) continue;
      CHECK(values[winner] <= values[subset]);
      sum += values[subset];
      ++count;
    }
    std::vector<double> importance(5);  // high for the members of the best subset
    for (Index h = 0; h < 5; ++h) {
      importance[std::size_t(h)] = best[std::size_t(kept)].contains(h) ? 1 : 0;
    }
    const double none = regret(values, 5, importance, kept);
    if (kept == 0 || kept == 5) {
      CHECK(std::isnan(none));  // there is one subset only
      continue;
    }
    CHECK(none == 0);
    for (double& score : importance) score = -score;
    std::uint64_t chosen = 0;  // the first ones of those outside, by their numbers
    Index missing = kept;
    for (const bool inside : {false, true}) {
      for (Index h = 0; h < 5 && missing > 0; ++h) {
        if (best[std::size_t(kept)].contains(h) != inside) continue;
        chosen |= std::uint64_t{1} << h;
        --missing;
      }
    }
    CHECK(close(regret(values, 5, importance, kept),
                (values[chosen] - values[winner]) / (sum / count - values[winner])));
  }
}

TEST_CASE("a wrong number of values is refused") {
  const std::vector<double> seven(7);
  CHECK_THROWS_WITH(exact_shapley(seven, 3), Catch::Contains("7 values for 3 players"));
  CHECK_THROWS_AS(exact_banzhaf(seven, 3), UsageError);
  CHECK_THROWS_AS(dividends(seven, 3), UsageError);
  CHECK_THROWS_AS(best_subsets(seven, 3), UsageError);
  CHECK_THROWS_AS(regret(seven, 3, seven, 1), UsageError);
  const std::vector<double> eight(8);
  CHECK_THROWS_AS(regret(eight, 3, eight, 1), UsageError);
}
