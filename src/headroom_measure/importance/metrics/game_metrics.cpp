// Metrics that play the game: they ask for the loss without some heads, or for its gradients by the
// gates where these are not 1.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "headroom/base/at.hpp"
#include "headroom/base/rng.hpp"
#include "headroom_measure/importance/choosers.hpp"
#include "headroom_measure/importance/shapley.hpp"
#include "importance/gate_hessian.hpp"
#include "importance/metrics/families.hpp"
#include "importance/ridge.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A function of the game; `seed` is of those that draw.
class GameMetric : public HeadMetric {
 public:
  using Play = std::vector<double> (*)(HeadGame& game, std::uint64_t seed);
  explicit GameMetric(Play function) : play_(function) {}
  void begin(const MetricSubject& subject) override { seed_ = subject.seed; }
  bool plays() const override { return true; }
  void play(HeadGame& game) override { scores_ = play_(game, seed_); }
  std::vector<double> scores() const override { return scores_; }

 private:
  Play play_;
  std::uint64_t seed_ = 0;
  std::vector<double> scores_;
};

/// f of the values of all 2^N subsets of at most most_exact_players heads.
class AllSubsets : public HeadMetric {
 public:
  using Solution = std::vector<double> (*)(std::span<const double> values, Index players);
  explicit AllSubsets(Solution f) : f_(f) {}
  void begin(const MetricSubject& subject) override {
    if (std::ssize(subject.heads) <= most_exact_players) return;
    absent_ = fmt::format(
        "it needs all subsets, of at most {} heads; shapley_sampled and regression estimate it",
        most_exact_players);
  }
  std::string absent() const override { return absent_; }
  bool plays() const override { return true; }
  void play(HeadGame& game) override { scores_ = f_(all_values(game), game.size()); }
  std::vector<double> scores() const override { return scores_; }

 private:
  Solution f_;
  std::string absent_;
  std::vector<double> scores_;
};

/// Nodes and weights of Gauss's quadrature with 8 points on [-1, 1], which are symmetric.
constexpr double nodes[]{0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                         0.9602898564975363};
constexpr double weights[]{0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                           0.1012285362903763};

/// The loss goes from v(none) to v(all) as all gates rise together from 0 to 1. The score is each
/// head's part of the fall, which Shapley's axioms for continuous games single out.
std::vector<double> path_integrals(HeadGame& game, std::uint64_t /*seed*/) {
  std::vector<double> scores(std::size_t(game.size()), 0);
  for (std::size_t k = 0; k < std::size(nodes); ++k) {
    for (const double side : {-1, 1}) {
      const std::vector<double> gates(scores.size(), (1 + side * nodes[k]) / 2);
      const std::vector<double> gradient = game.gradient(gates);
      for (std::size_t h = 0; h < scores.size(); ++h) scores[h] -= weights[k] / 2 * gradient[h];
    }
  }
  return scores;
}

/// Where the task is solved, gradients at g = 1 vanish, but those of models that lack some heads do
/// not. The gradient of a gate that is closed counts too: it says what opening it would change.
std::vector<double> masked_sensitivity(HeadGame& game, std::uint64_t seed) {
  constexpr std::uint64_t masks = 8;
  std::vector<double> scores(std::size_t(game.size()), 0);
  for (std::uint64_t mask = 0; mask < masks; ++mask) {
    std::vector<MaskStream> streams;  // each example has a mask of its own
    for (const HeadId& head : game.players()) {
      streams.emplace_back(seed, mask, hash_name("random mask of " + head.text()));
    }
    const auto rows = game.example_gradients([&](Index example, Index player) {
      return at(streams, player).uniform(example) < 0.75F ? 1 : 0;
    });
    for (const std::vector<double>& row : rows) {
      for (std::size_t h = 0; h < scores.size(); ++h) {
        scores[h] += std::abs(row[h]) / double(rows.size() * masks);
      }
    }
  }
  return scores;
}

/// The rise of the loss that a parabola through g = 1 predicts for g = 0.
std::vector<double> second_order_rises(HeadGame& game, std::uint64_t /*seed*/) {
  const GateExpansion expansion = expansion_of(game);
  std::vector<double> scores;
  for (Index h = 0; h < game.size(); ++h) scores.push_back(expansion.rise_without(h));
  return scores;
}

/// The rise of the mean loss when the gate of this head alone is 0.
std::vector<double> rises_without(HeadGame& game, std::uint64_t /*seed*/) {
  const double whole = game.value(game.all());
  std::vector<double> scores;
  for (Index head = 0; head < game.size(); ++head) {
    scores.push_back(game.value(game.all().without(head)) - whole);
  }
  return scores;
}

/// Fall of the loss when a head is added to an attention without heads.
std::vector<double> falls_alone(HeadGame& game, std::uint64_t /*seed*/) {
  std::vector<double> scores;
  for (Index h = 0; h < game.size(); ++h) {
    HeadSet none = game.all();
    for (Index other = 0; other < game.size(); ++other) {
      const HeadId &a = at(game.players(), h), &b = at(game.players(), other);
      if (a.kind == b.kind && a.layer == b.layer) none = none.without(other);
    }
    scores.push_back(game.value(none) - game.value(none.with(h)));
  }
  return scores;
}

/// How far the predictions move when the gate of this head alone is 0, right or wrong. This is the
/// first term of the paper's algorithm 1. Two steps of the algorithm are left out: it scales the
/// divergences to [0, 1] in each layer, and has a recursion over the layers with a balancing
/// factor.
std::vector<double> divergences_without(HeadGame& game, std::uint64_t /*seed*/) {
  std::vector<HeadSet> subsets;
  for (Index h = 0; h < game.size(); ++h) subsets.push_back(game.all().without(h));
  return game.divergences(subsets);
}

/// The order of the chooser greedy, without a budget.
std::vector<double> greedy_order(HeadGame& game, std::uint64_t /*seed*/) {
  const std::vector<HeadId> order = greedy()(game, game.size(), {.at_least_of_kind = 0});
  std::vector<double> scores;
  for (const HeadId& head : game.players()) {
    scores.push_back(double(std::find(order.begin(), order.end(), head) - order.begin()));
  }
  return scores;
}

/// Coefficient of a head's presence in a linear regression on the losses of random subsets.
std::vector<double> regression_on_subsets(HeadGame& game, std::uint64_t seed) {
  Rng rng(seed, "subsets of regression");
  std::vector<HeadSet> subsets;
  std::vector<std::vector<double>> rows;
  for (Index sample = 0; sample < 10 * game.size(); ++sample) {
    HeadSet subset;
    std::vector<double>& row = rows.emplace_back();
    for (Index h = 0; h < game.size(); ++h) {
      row.push_back(double(rng.below(2)));
      if (row.back() == 1) subset = subset.with(h);
    }
    subsets.push_back(subset);
  }
  const std::vector<double> penalties(std::size_t(game.size()), no_penalty);
  const std::vector<double> fit = ridge_regression(rows, game.values(subsets), penalties);
  std::vector<double> scores;
  for (std::size_t h = 1; h < fit.size(); ++h) scores.push_back(-fit[h]);  // fit[0]: constant
  return scores;
}

std::vector<double> shapley_of_orders(HeadGame& game, std::uint64_t seed) {
  return sampled_shapley(game, 20, Rng(seed, "orders of shapley_sampled")).values;
}

}  // namespace

MetricEntry metric_leave_one_out() {
  return metric_of<GameMetric>({.name = "leave_one_out",
                                .formula = "v(all but h) - v(all)",
                                .source = "Michel, Levy and Neubig 2019, section 3.2",
                                .cost = "N F"},
                               rises_without);
}

std::vector<MetricEntry> game_metrics() {
  return {
      metric_of<GameMetric>({.name = "path",
                             .formula = "-integral of dL/dg_h over s in [0, 1], all gates s; by "
                                        "Gauss's rule with 8 points",
                             .source = "Aumann and Shapley 1974; Sundararajan et al. 2017; for "
                                       "attention Hao et al. 2021",
                             .cost = "8 B"},
                            path_integrals),
      metric_of<GameMetric>({.name = "random_masks",
                             .formula = "E_x,m |dL(x)/dg_h| where gates are m, 8 random masks that "
                                        "keep each head with 3/4",
                             .source = "headroom: after expected gradients (Erion et al. 2021) and "
                                       "DropHead (Zhou et al. 2020)",
                             .cost = "8 B"},
                            masked_sensitivity),
      metric_of<GameMetric>(
          {.name = "taylor2",
           .formula = "-dL/dg_h + H_h / 2, H_h = (dL/dg_h at g_h = 1.1 - at 0.9) / 0.2",
           .source = "LeCun, Denker and Solla 1990 (OBD), for gates and with the first order",
           .cost = "(2N+1) B"},
          second_order_rises),
      metric_leave_one_out(),
      metric_of<GameMetric>({.name = "all_but_one",
                             .formula = "v(all but the heads of its attention) - v(the same and h)",
                             .source = "Michel, Levy and Neubig 2019, section 3.3",
                             .cost = "N F"},
                            falls_alone),
      metric_of<GameMetric>({.name = "divergence",
                             .formula = "E_x sum over labels of KL(p with all heads, p without h)",
                             .source = "arXiv 2507.07064, algorithm 1, without its scaling in "
                                       "each layer and its recursion over layers",
                             .cost = "N F"},
                            divergences_without),
      metric_self_repair(),
      metric_of<GameMetric>(
          {.name = "greedy",
           .formula = "number of heads that backward elimination removes before h",
           .source = "Marill and Green 1963; for heads as Parnami, Singh and Joshi 2021",
           .cost = "N^2/2 F"},
          greedy_order),
      metric_of<GameMetric>({.name = "regression",
                             .formula = "-b_h of the least squares v(S) = c + sum of b_h over h in "
                                        "S, 10N random S with each head in half of them",
                             .source = "Dery et al. 2024 (Bonsai); estimates the Banzhaf value "
                                       "(Hammer and Holzman 1992)",
                             .cost = "10N F"},
                            regression_on_subsets),
      metric_of<GameMetric>(
          {.name = "shapley_sampled",
           .formula = "mean of v(S) - v(S + h) over 20 random orders, S the heads "
                      "before h; in pairs of an order and its reverse",
           .source = "Castro, Gomez and Tejada 2009; for heads Held and Yang 2023",
           .cost = "20N F"},
          shapley_of_orders),
      metric_of<AllSubsets>({.name = "shapley",
                             .formula = "mean of v(S) - v(S + h) over all orders, S the heads "
                                        "before h",
                             .source = "Shapley 1953",
                             .cost = "2^N F"},
                            exact_shapley),
      metric_of<AllSubsets>({.name = "banzhaf",
                             .formula = "mean of v(S) - v(S + h) over all subsets S of the other "
                                        "heads",
                             .source = "Banzhaf 1965",
                             .cost = "2^N F"},
                            exact_banzhaf),
  };
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
