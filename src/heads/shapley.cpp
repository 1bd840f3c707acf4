// Exact and sampled values of a game among heads.
#include "headroom/heads/shapley.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr Index most_players = 16;

void check_values(const char* what, std::span<const double> values, Index players) {
  const bool right = players >= 1 && players <= most_players &&
                     values.size() == std::size_t{1} << static_cast<std::size_t>(players);
  if (right) return;
  throw UsageError(fmt::format("{}: {} values for {} players; 2^players are needed, for 1 to {}",
                               what, values.size(), players, most_players));
}

Index size_of(std::size_t subset) { return std::popcount(subset); }

std::vector<Index> random_order(Index players, Rng& rng) {
  std::vector<Index> order(static_cast<std::size_t>(players));
  std::iota(order.begin(), order.end(), Index{0});
  for (Index i = players; i > 1; --i) std::swap(at(order, i - 1), at(order, rng.below(i)));
  return order;
}

}  // namespace

std::vector<double> all_values(HeadGame& game) {
  if (game.size() > most_players) {
    throw UsageError(fmt::format("all subsets: {} players; at most {}", game.size(), most_players));
  }
  std::vector<HeadSet> subsets;
  for (std::uint64_t bits = 0; bits <= game.all().bits(); ++bits) {
    subsets.push_back(HeadSet::of_bits(bits));
  }
  return game.values(subsets);
}

std::vector<double> exact_shapley(std::span<const double> values, Index players) {
  check_values("exact_shapley", values, players);
  // The share of the orders in which exactly the players of S come before h: |S|! (n-|S|-1)! / n!.
  std::vector<double> share(static_cast<std::size_t>(players));
  for (std::size_t size = 0; size < share.size(); ++size) {
    share[size] = 1 / double(players);
    for (std::size_t i = 0; i < size; ++i)
      share[size] *= double(i + 1) / double(players - 1 - Index(i));
  }
  std::vector<double> shapley(static_cast<std::size_t>(players));
  for (std::size_t subset = 0; subset < values.size(); ++subset) {
    for (std::size_t h = 0; h < shapley.size(); ++h) {
      const std::size_t with = subset | std::size_t{1} << h;
      if (with == subset) continue;
      shapley[h] +=
          share[static_cast<std::size_t>(size_of(subset))] * (values[subset] - values[with]);
    }
  }
  return shapley;
}

std::vector<double> exact_banzhaf(std::span<const double> values, Index players) {
  check_values("exact_banzhaf", values, players);
  std::vector<double> banzhaf(static_cast<std::size_t>(players));
  for (std::size_t subset = 0; subset < values.size(); ++subset) {
    for (std::size_t h = 0; h < banzhaf.size(); ++h) {
      const std::size_t with = subset | std::size_t{1} << h;
      if (with != subset) banzhaf[h] += (values[subset] - values[with]) * 2 / double(values.size());
    }
  }
  return banzhaf;
}

SampledShapley sampled_shapley(HeadGame& game, Index permutations, Rng rng) {
  if (permutations < 4 || permutations % 2 != 0) {
    throw UsageError(
        fmt::format("sampled_shapley: {} permutations; they come in pairs, of which 2 "
                    "are needed for an error",
                    permutations));
  }
  std::vector<std::vector<Index>> orders;
  std::vector<HeadSet> subsets;
  for (Index pair = 0; pair < permutations / 2; ++pair) {
    std::vector<Index> order = random_order(game.size(), rng);
    for (Index way = 0; way < 2; ++way, std::reverse(order.begin(), order.end())) {
      orders.push_back(order);
      HeadSet coming;
      subsets.push_back(coming);
      for (const Index player : order) subsets.push_back(coming = coming.with(player));
    }
  }
  const std::vector<double> values = game.values(subsets);
  // For each player, the mean contributions to an order and its reverse.
  std::vector<std::vector<double>> means(static_cast<std::size_t>(game.size()),
                                         std::vector<double>(orders.size() / 2, 0));
  auto next = values.begin();
  for (std::size_t o = 0; o < orders.size(); ++o, ++next) {
    for (const Index player : orders[o]) {
      const double before = *next++;
      at(means, player)[o / 2] += (before - *next) / 2;
    }
  }
  SampledShapley sampled;
  for (const std::vector<double>& of_player : means) {
    const Interval interval = mean_interval(of_player);
    double squares = 0;
    for (const double mean : of_player) squares += std::pow(mean - interval.value, 2);
    const auto count = double(of_player.size());
    sampled.values.push_back(interval.value);
    sampled.errors.push_back(std::sqrt(squares / (count - 1) / count));
    sampled.intervals.push_back(interval);
  }
  return sampled;
}

std::vector<double> dividends(std::span<const double> values, Index players) {
  check_values("dividends", values, players);
  std::vector<double> result(values.begin(), values.end());
  for (Index h = 0; h < players; ++h) {  // Moebius' inversion, one player after the other
    const std::size_t bit = std::size_t{1} << h;
    for (std::size_t subset = 0; subset < result.size(); ++subset) {
      if ((subset & bit) != 0) result[subset] -= result[subset ^ bit];
    }
  }
  return result;
}

std::vector<HeadSet> best_subsets(std::span<const double> values, Index players) {
  check_values("best_subsets", values, players);
  std::vector<std::size_t> best(static_cast<std::size_t>(players) + 1, values.size());
  for (std::size_t subset = 0; subset < values.size(); ++subset) {
    std::size_t& of_size = best[static_cast<std::size_t>(size_of(subset))];
    if (of_size == values.size() || values[subset] < values[of_size]) of_size = subset;
  }
  std::vector<HeadSet> sets;
  for (const std::size_t subset : best) sets.push_back(HeadSet::of_bits(subset));
  return sets;
}

double regret(std::span<const double> values, Index players, std::span<const double> importance,
              Index kept) {
  check_values("regret", values, players);
  if (std::ssize(importance) != players || kept < 0 || kept > players) {
    throw UsageError(fmt::format("regret: {} scores of {} players, of which {} are kept",
                                 importance.size(), players, kept));
  }
  std::vector<Index> order(importance.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return importance[static_cast<std::size_t>(a)] > importance[static_cast<std::size_t>(b)];
  });
  HeadSet chosen;
  for (Index i = 0; i < kept; ++i) chosen = chosen.with(order[static_cast<std::size_t>(i)]);
  double sum = 0, count = 0, best = std::numeric_limits<double>::infinity();
  for (std::size_t subset = 0; subset < values.size(); ++subset) {
    if (size_of(subset) != kept) continue;
    sum += values[subset];
    ++count;
    best = std::min(best, values[subset]);
  }
  const double random = sum / count;
  if (random == best) return std::numeric_limits<double>::quiet_NaN();
  return (values[chosen.bits()] - best) / (random - best);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
