// Exact and sampled values of a game among heads.
#include "headroom_measure/importance/shapley.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
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
  const auto values = [&](std::span<const HeadSet> subsets) { return game.values(subsets); };
  return sampled_shapley(game.size(), values, permutations, rng);
}

SampledShapley sampled_shapley(Index players, const ValuesOf& values_of, Index permutations,
                               Rng rng) {
  if (permutations < 4 || permutations % 2 != 0) {
    throw UsageError(
        fmt::format("sampled_shapley: {} permutations; they come in pairs, of which 2 "
                    "are needed for an error",
                    permutations));
  }
  std::vector<std::vector<Index>> orders;
  std::vector<HeadSet> subsets;
  for (Index pair = 0; pair < permutations / 2; ++pair) {
    std::vector<Index> order = random_order(players, rng);
    for (Index way = 0; way < 2; ++way, std::reverse(order.begin(), order.end())) {
      orders.push_back(order);
      HeadSet coming;
      subsets.push_back(coming);
      for (const Index player : order) subsets.push_back(coming = coming.with(player));
    }
  }
  const std::vector<double> values = values_of(subsets);
  // For each player, the mean contributions to an order and its reverse.
  std::vector<std::vector<double>> means(static_cast<std::size_t>(players),
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

SampledCoverage sampled_coverage(std::span<const double> values, Index players, Index permutations,
                                 Index repeats, std::uint64_t seed) {
  const std::vector<double> exact = exact_shapley(values, players);
  const auto known = [&](std::span<const HeadSet> subsets) {
    std::vector<double> found;
    for (const HeadSet& subset : subsets) found.push_back(values[subset.bits()]);
    return found;
  };
  SampledCoverage coverage;
  for (Index repeat = 0; repeat < repeats; ++repeat) {
    const Rng rng(seed, "orders of a repeat", static_cast<std::uint64_t>(repeat));
    const SampledShapley sampled = sampled_shapley(players, known, permutations, rng);
    for (Index h = 0; h < players; ++h) {
      const Interval& interval = at(sampled.intervals, h);
      ++coverage.cases;
      if (interval.low <= at(exact, h) && at(exact, h) <= interval.high) ++coverage.inside;
    }
  }
  return coverage;
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

namespace {

/// f(i's bit, j's bit) for each pair of players.
template <class F>
std::vector<std::vector<double>> of_pairs(Index players, F f) {
  const auto count = static_cast<std::size_t>(players);
  std::vector<std::vector<double>> matrix(count, std::vector<double>(count, 0));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      matrix[i][j] = matrix[j][i] = f(std::size_t{1} << i, std::size_t{1} << j);
    }
  }
  return matrix;
}

}  // namespace

std::vector<std::vector<double>> pair_interactions(std::span<const double> values, Index players) {
  check_values("pair_interactions", values, players);
  const std::size_t all = values.size() - 1;
  return of_pairs(players, [&](std::size_t i, std::size_t j) {
    return values[all ^ i ^ j] - values[all ^ i] - values[all ^ j] + values[all];
  });
}

std::vector<std::vector<double>> pair_dividends(std::span<const double> values, Index players) {
  check_values("pair_dividends", values, players);
  const std::vector<double> parts = dividends(values, players);
  return of_pairs(players, [&](std::size_t i, std::size_t j) { return parts[i | j]; });
}

std::vector<double> triple_dividends(std::span<const double> values, Index players) {
  check_values("triple_dividends", values, players);
  const std::vector<double> parts = dividends(values, players);
  std::vector<double> triples;
  for (std::size_t subset = 0; subset < parts.size(); ++subset) {
    if (std::popcount(subset) == 3) triples.push_back(parts[subset]);
  }
  return triples;
}

ShapleyAxioms shapley_axioms(std::span<const double> values, Index players) {
  const std::vector<double> shapley = exact_shapley(values, players);
  ShapleyAxioms axioms;
  axioms.sum_error = std::abs(std::accumulate(shapley.begin(), shapley.end(), 0.0) -
                              (values.front() - values.back()));
  std::vector<double> twins(values.size());
  for (Index i = 0; i < players; ++i) {
    for (Index j = 0; j < i; ++j) {
      for (std::size_t subset = 0; subset < values.size(); ++subset) {
        const bool one_of_them = (subset >> i & 1) != (subset >> j & 1);
        const std::size_t both = std::size_t{1} << i | std::size_t{1} << j;
        twins[subset] = (values[subset] + values[one_of_them ? subset ^ both : subset]) / 2;
      }
      const std::vector<double> of_twins = exact_shapley(twins, players);
      axioms.twin_error = std::max(axioms.twin_error, std::abs(at(of_twins, i) - at(of_twins, j)));
    }
  }
  return axioms;
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

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
