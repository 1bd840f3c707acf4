// The chooser pairwise.
#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "importance/choosers/all.hpp"
#include "importance/choosers/pair_costs.hpp"
#include "importance/choosers/sampled_subsets.hpp"
#include "importance/ridge.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// 1 for each removed player, then for each pair of them.
std::vector<double> terms_of(HeadSet subset, Index players) {
  std::vector<double> terms;
  for (Index i = 0; i < players; ++i) terms.push_back(subset.contains(i) ? 0 : 1);
  for (Index i = 0; i < players; ++i) {
    for (Index j = 0; j < i; ++j) terms.push_back(at(terms, i) * at(terms, j));
  }
  return terms;
}

/// The regression has N^2 / 2 unknowns, so 2,080 for so many heads.
constexpr Index most_players = 64;

/// The costs of single players and pairs that fit v best.
PairCosts fitted_costs(HeadGame& game, Index remove, const ChooserOptions& options) {
  if (game.size() > most_players) {
    throw UsageError(
        fmt::format("pairwise: {} heads are too many, at most {}; sparse_pairs and "
                    "others have no limit",
                    game.size(), most_players));
  }
  const Index samples = options.samples == 0 ? 20 * game.size() : options.samples;
  const std::vector<HeadSet> subsets =
      random_subsets(game, remove, samples, options.seed, "subsets of pairwise");
  std::vector<std::vector<double>> rows;
  for (const HeadSet& subset : subsets) rows.push_back(terms_of(subset, game.size()));
  // Only pairs pay, so that costs that add up are found exactly.
  std::vector<double> penalties(rows[0].size(), 1);
  std::fill_n(penalties.begin(), game.size(), no_penalty);
  const std::vector<double> fit = ridge_regression(rows, game.values(subsets), penalties);
  PairCosts costs(game.size());
  auto next = fit.begin() + 1;  // after the constant
  for (double& cost : costs.single) cost = *next++;
  for (Index i = 0; i < game.size(); ++i) {
    for (Index j = 0; j < i; ++j) costs.set_pair(i, j, *next++);
  }
  return costs;
}

}  // namespace

Chooser pairwise(const ChooserOptions& options) {
  options.check();
  return [options](HeadGame& game, Index remove, const Budget& budget) {
    return cheapest_removal(fitted_costs(game, remove, options), game, remove, budget);
  };
}

ChooserEntry chooser_pairwise() {
  return {
      {.name = "pairwise",
       .formula = "argmin over sets R of sum_R a_i + sum_{i<j in R} b_ij, fitted to v of random "
                  "subsets by ridge regression",
       .source = "headroom: Grabisch's 2-additive games, fitted to samples",
       .cost = "20N F"},
      [](const ChooserOptions& options) { return pairwise(options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
