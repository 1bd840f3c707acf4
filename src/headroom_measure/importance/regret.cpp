// Regret of sets of heads.
#include "headroom_measure/importance/regret.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/statistics/intervals.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr Index most_regret_players = 16;

/// Nats, and their share of a random subset's.
std::pair<double, double> regret_of(double value, double best, double random) {
  const double nats = value - best;
  return {nats, random == best ? std::numeric_limits<double>::quiet_NaN() : nats / (random - best)};
}

double deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / double(values.size() - 1));
}

}  // namespace

HeadSet most_important(std::span<const double> importance, Index kept) {
  const Index players = std::ssize(importance);
  if (kept < 0 || kept > players || players > HeadSet::most) {
    throw UsageError(fmt::format("most_important: {} of {} players", kept, players));
  }
  std::vector<Index> order(importance.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return at(importance, a) > at(importance, b); });
  HeadSet set;
  for (Index i = 0; i < kept; ++i) set = set.with(at(order, i));
  return set;
}

RegretScale::Sample RegretScale::sample_of(std::vector<double> values, Index players) {
  const auto sizes = std::size_t(players) + 1;
  Sample sample{std::move(values), std::vector<double>(sizes, 0), std::vector<double>(sizes, 0)};
  std::vector<double> count(sizes, 0);
  for (std::size_t subset = 0; subset < sample.values.size(); ++subset) {
    const auto size = std::size_t(std::popcount(subset));
    const double value = sample.values[subset];
    if (count[size] == 0 || value < sample.best[size]) sample.best[size] = value;
    sample.random[size] += value;
    ++count[size];
  }
  for (std::size_t size = 0; size < sizes; ++size) sample.random[size] /= count[size];
  return sample;
}

RegretScale::RegretScale(std::span<const double> values, Index players) {
  if (players < 1 || players > most_regret_players ||
      values.size() != std::size_t{1} << std::size_t(players)) {
    throw UsageError(
        fmt::format("regret: {} values for {} players; 2^players are needed, for 1 "
                    "to {}",
                    values.size(), players, most_regret_players));
  }
  samples_.push_back(sample_of({values.begin(), values.end()}, players));
}

RegretScale::RegretScale(std::span<const std::vector<double>> losses, Index players,
                         Index resamples, Rng rng)
    : RegretScale(mean_losses(losses), players) {
  const std::size_t examples = losses[0].size();
  for (Index r = 0; r < resamples; ++r) {
    std::vector<double> weights(examples, 0);  // how often an example was drawn, over their number
    for (std::size_t draw = 0; draw < examples; ++draw) {
      at(weights, rng.below(Index(examples))) += 1 / double(examples);
    }
    std::vector<double> values;
    for (const std::vector<double>& of_subset : losses) {
      values.push_back(
          std::inner_product(of_subset.begin(), of_subset.end(), weights.begin(), 0.0));
    }
    samples_.push_back(sample_of(std::move(values), players));
  }
}

Regret RegretScale::of(HeadSet kept) const {
  const auto size = std::size_t(std::popcount(kept.bits()));
  Regret regret;
  std::vector<double> nats, shares;
  for (std::size_t s = 0; s < samples_.size(); ++s) {
    const Sample& sample = samples_[s];
    const auto [of_sample, share] =
        regret_of(sample.values.at(kept.bits()), sample.best[size], sample.random[size]);
    if (s == 0) {
      regret.nats = of_sample;
      regret.share = share;
      continue;
    }
    nats.push_back(of_sample);
    if (!std::isnan(share)) shares.push_back(share);
  }
  regret.nats_error = deviation(nats);
  regret.share_error = deviation(shares);
  return regret;
}

bool is_candidate(const std::string& choice) {
  return choice != negative_control && choice != same_set_shapley;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
