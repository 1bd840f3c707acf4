// The chooser sparse_pairs.
#include <algorithm>
#include <cmath>
#include <limits>

#include "headroom/base/at.hpp"
#include "importance/choosers/all.hpp"
#include "importance/choosers/pair_costs.hpp"
#include "importance/choosers/sampled_subsets.hpp"
#include "importance/ridge.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

using Row = std::vector<double>;
using Pair = std::pair<Index, Index>;

/// Subsets of the players and their values.
struct Samples {
  std::vector<HeadSet> subsets;
  Row values;

  /// Those whose position is in a fold, or those whose position is not.
  Samples part(std::size_t fold, std::size_t folds, bool inside) const {
    Samples some;
    for (std::size_t s = 0; s < subsets.size(); ++s) {
      if ((s % folds == fold) != inside) continue;
      some.subsets.push_back(subsets[s]);
      some.values.push_back(values[s]);
    }
    return some;
  }
};

/// The term of a player or of a pair in the Fourier basis of subsets: 1 or -1.
double sign_of(const HeadSet& subset, Index player) { return subset.contains(player) ? 1 : -1; }
double sign_of(const HeadSet& subset, const Pair& pair) {
  return sign_of(subset, pair.first) * sign_of(subset, pair.second);
}

/// v as a constant, a term for each player and terms for some pairs.
struct Fit {
  std::vector<Pair> pairs;
  Row coefficients = {};  // the constant, the players', the pairs'

  Row terms(HeadSet subset, Index players) const {
    Row terms;
    for (Index i = 0; i < players; ++i) terms.push_back(sign_of(subset, i));
    for (const Pair& pair : pairs) terms.push_back(sign_of(subset, pair));
    return terms;
  }
  void to(const Samples& samples, Index players) {
    std::vector<Row> rows;
    for (const HeadSet& subset : samples.subsets) rows.push_back(terms(subset, players));
    coefficients = ridge_regression(rows, samples.values, Row(rows[0].size(), no_penalty));
  }
  /// The residuals of the fit: each value less the fitted one.
  Row rest(const Samples& samples, Index players) const {
    Row rest = samples.values;
    for (std::size_t s = 0; s < rest.size(); ++s) {
      const Row terms_of_subset = terms(samples.subsets[s], players);
      rest[s] -= coefficients[0];
      for (std::size_t j = 0; j < terms_of_subset.size(); ++j) {
        rest[s] -= coefficients[j + 1] * terms_of_subset[j];
      }
    }
    return rest;
  }
};

/// The pair that is not in the fit and whose term correlates best with the rest.
Pair next_pair(const Fit& fit, const Samples& samples, Index players) {
  const Row rest = fit.rest(samples, players);
  Pair best{0, 1};
  double most = -1;
  for (Index i = 0; i < players; ++i) {
    for (Index j = i + 1; j < players; ++j) {
      const Pair pair{i, j};
      if (std::find(fit.pairs.begin(), fit.pairs.end(), pair) != fit.pairs.end()) continue;
      double product = 0, mean = 0;
      for (std::size_t s = 0; s < rest.size(); ++s) {
        const double sign = sign_of(samples.subsets[s], pair);
        product += sign * rest[s];  // the rest has mean 0
        mean += sign / double(rest.size());
      }
      const double deviation = std::sqrt(std::max(1 - mean * mean, 0.0));
      if (deviation < 1e-6 || std::abs(product) / deviation <= most) continue;
      most = std::abs(product) / deviation;
      best = pair;
    }
  }
  return best;
}

constexpr std::size_t folds = 5;

/// At most as many pairs as there are players, and with half as many terms as samples: more cannot
/// be told from noise.
Index most_pairs(const Samples& samples, Index players) {
  const Index all = players * (players - 1) / 2;
  const Index room = std::ssize(samples.subsets) / 2 - players - 1;
  return std::clamp(std::min(players, room), Index{0}, all);
}

/// The number of pairs with the smallest squared error on examples that the fit did not see.
Index best_number_of_pairs(const Samples& samples, Index players) {
  Row errors(std::size_t(most_pairs(samples, players)) + 1, 0);
  for (std::size_t fold = 0; fold < folds; ++fold) {
    const Samples seen = samples.part(fold, folds, false), other = samples.part(fold, folds, true);
    Fit fit{};
    for (double& error : errors) {
      if (&error != errors.data()) fit.pairs.push_back(next_pair(fit, seen, players));
      fit.to(seen, players);
      for (const double rest : fit.rest(other, players)) error += rest * rest;
    }
  }
  return std::min_element(errors.begin(), errors.end()) - errors.begin();
}

/// The costs of single players and pairs: the presence s_i = 1 - 2 r_i for r_i = 1 where i is
/// removed, so that s_i s_j = 1 - 2 r_i - 2 r_j + 4 r_i r_j.
PairCosts costs_of(const Fit& fit, Index players) {
  PairCosts costs(players);
  for (Index i = 0; i < players; ++i) at(costs.single, i) = -2 * at(fit.coefficients, 1 + i);
  for (std::size_t p = 0; p < fit.pairs.size(); ++p) {
    const auto [i, j] = fit.pairs[p];
    const double coefficient = fit.coefficients[std::size_t(1 + players) + p];
    at(costs.single, i) -= 2 * coefficient;
    at(costs.single, j) -= 2 * coefficient;
    costs.set_pair(i, j, 4 * coefficient);
  }
  return costs;
}

PairCosts sparse_costs(HeadGame& game, Index remove, const ChooserOptions& options) {
  const Index players = game.size();
  const Index count = options.samples == 0 ? sparse_pairs_samples * players : options.samples;
  Samples samples{random_subsets(game, remove, count, options.seed, "subsets of sparse_pairs"), {}};
  samples.values = game.values(samples.subsets);
  const Index pairs = count < Index(2 * folds) ? 0 : best_number_of_pairs(samples, players);
  Fit fit{};
  fit.to(samples, players);
  for (Index p = 0; p < pairs; ++p) {
    fit.pairs.push_back(next_pair(fit, samples, players));
    fit.to(samples, players);
  }
  return costs_of(fit, players);
}

}  // namespace

Chooser sparse_pairs(const ChooserOptions& options) {
  options.check();
  return [options](HeadGame& game, Index remove, const Budget& budget) {
    return cheapest_removal(sparse_costs(game, remove, options), game, remove, budget);
  };
}

ChooserEntry chooser_sparse_pairs() {
  return {{.name = "sparse_pairs",
           .formula =
               "as pairwise, with the few pairs that matching pursuit adds to a fit of all heads "
               "to 8N random subsets; their number by cross-validation",
           .source =
               "after Butler et al. 2025 (ProxySPEX), arXiv 2505.17495, without its boosted trees "
               "and higher orders",
           .cost = "8N F"},
          [](const ChooserOptions& options) { return sparse_pairs(options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
