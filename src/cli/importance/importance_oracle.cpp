// The losses of all subsets of heads, and the exact values that follow from them.
#include "cli/importance/importance_oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom_measure/importance/choosers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Number of bootstrap samples for a standard error.
constexpr Index resamples = 200;

/// The games that are small enough for all subsets.
std::vector<ExactGame> games_of(const std::vector<HeadId>& live) {
  if (std::ssize(live) <= most_exact_players) return {{"all heads", live}};
  std::map<AttentionKind, std::vector<HeadId>> kinds;
  for (const HeadId& head : live) kinds[head.kind].push_back(head);
  std::vector<ExactGame> games;
  for (const auto& [kind, heads] : kinds) {
    if (std::ssize(heads) > most_exact_players) {
      throw UsageError(
          fmt::format("--oracle: the model has {} heads of kind {}, and a game of n heads has 2^n "
                      "subsets; use a model with at most {} heads of each kind, or --metric "
                      "shapley_sampled without --oracle",
                      heads.size(), name_of(kind), most_exact_players));
    }
    games.push_back({std::string(name_of(kind)), heads});
  }
  return games;
}

/// The importance of a game's players by a metric.
std::vector<double> importance_of(const ExactGame& game, const ImportanceTable& table,
                                  const std::string& metric) {
  std::vector<double> scores;
  for (const HeadScore& score : table.importance(metric)) {
    const bool plays =
        std::find(game.players.begin(), game.players.end(), score.head) != game.players.end();
    if (plays) scores.push_back(score.score);
  }
  return scores;
}

/// The regrets of a choice whose heads are kept(count).
template <class Kept>
std::vector<Regret> regrets_of(const RegretScale& scale, Index players, Kept kept) {
  std::vector<Regret> regrets;
  for (Index count = 0; count <= players; ++count) regrets.push_back(scale.of(kept(count)));
  return regrets;
}

void check_axioms(const ExactGame& game) {
  double scale = 1;
  for (const double value : game.values) scale = std::max(scale, std::abs(value));
  const double worst = std::max(game.axioms.sum_error, game.axioms.twin_error);
  if (worst <= 1e-9 * scale) return;
  throw NumericError(
      fmt::format("--oracle: the exact Shapley values of {} are wrong: their sum is off by {:.3g}, "
                  "values of twins by {:.3g}; this is a fault of headroom, please report it",
                  game.title, game.axioms.sum_error, game.axioms.twin_error));
}

/// The dividends of triples in the game of the entropy of predictions.
std::vector<double> entropy_triples_of(HeadGame& game) {
  std::vector<HeadSet> small;
  for (std::uint64_t bits = 0; bits <= game.all().bits(); ++bits) {
    if (std::popcount(bits) <= 3) small.push_back(HeadSet::of_bits(bits));
  }
  const std::vector<double> entropies = game.entropies(small);
  std::vector<double> values(std::size_t(game.all().bits()) + 1, 0);
  for (std::size_t s = 0; s < small.size(); ++s) values[small[s].bits()] = entropies[s];
  return triple_dividends(values, game.size());
}

/// The players that a chooser keeps. No budget limits the choice, as none limits the best subset.
HeadSet kept_by(const Chooser& chooser, HeadGame& game, Index count) {
  return game.all_but(chooser(game, game.size() - count, {.at_least_of_kind = 0}));
}

/// Adds the choices of choosers and metrics to a game.
void add_choices(ExactGame& game, const RegretScale& scale, HeadGame& choosing,
                 const ImportanceTable& table, const ImportanceOptions& options,
                 const OracleProgress& progress) {
  const Index players = std::ssize(game.players);
  const ChooserOptions chooser_options{.seed = options.seed, .recorded = options.recorded};
  double done = 0;
  for (const ChooserEntry& entry : head_choosers()) {
    const Chooser chooser = entry.make(chooser_options);
    const auto kept = [&](Index count) { return kept_by(chooser, choosing, count); };
    game.choices.push_back({entry.info.name, true, regrets_of(scale, players, kept)});
    progress("choosers", ++done / double(head_choosers().size()));
  }
  const auto add = [&](const std::string& name, const std::vector<double>& importance) {
    const auto kept = [&](Index count) { return most_important(importance, count); };
    game.choices.push_back({name, false, regrets_of(scale, players, kept)});
  };
  const auto chosen = game.choices;
  for (const ImportanceTable::Column& column : table.columns) {
    // The metric greedy is the order of removal by the chooser greedy.
    const bool twice = std::any_of(chosen.begin(), chosen.end(), [&](const auto& choice) {
      return choice.name == column.info.name;
    });
    if (!twice) add(column.info.name, importance_of(game, table, column.info.name));
  }
  add(same_set_shapley, game.shapley);
}

}  // namespace

Oracle oracle_of(HeadGame& choosing, HeadGame& measuring, const ImportanceTable& table,
                 const ImportanceOptions& options, const OracleProgress& progress) {
  if (choosing.set() == measuring.set()) {
    throw UsageError(fmt::format(
        "oracle: heads are chosen and measured on the same set, {}; choose them on another",
        name_of(measuring.set())));
  }
  Oracle oracle{.chosen_on = choosing.set(),
                .measured_on = measuring.set(),
                .chosen_examples = choosing.examples(),
                .examples = measuring.examples(),
                .games = games_of(measuring.players()),
                .heads = measuring.players()};
  for (ExactGame& exact : oracle.games) {
    const Index players = std::ssize(exact.players);
    const bool whole = players == measuring.size();
    std::optional<HeadGame> among, choosing_among;  // some heads
    if (!whole) {
      among.emplace(measuring.learner(), measuring.set(), measuring.most(), exact.players);
      choosing_among.emplace(choosing.learner(), choosing.set(), choosing.most(), exact.players);
    }
    HeadGame& game = whole ? measuring : *among;
    std::vector<HeadSet> subsets;
    for (std::uint64_t bits = 0; bits <= game.all().bits(); ++bits) {
      subsets.push_back(HeadSet::of_bits(bits));
    }
    const auto losses = game.example_losses(
        subsets, [&](double share) { progress("all subsets, " + exact.title, share); });
    exact.values = mean_losses(losses);
    exact.shapley = exact_shapley(exact.values, players);
    exact.axioms = shapley_axioms(exact.values, players);
    check_axioms(exact);
    exact.entropy_triples = entropy_triples_of(game);
    exact.coverage =
        sampled_coverage(exact.values, players, oracle_orders, oracle_repeats, options.seed);
    const RegretScale scale(losses, players, resamples,
                            Rng(options.seed, "examples of the oracle"));
    for (Index size = 0; size <= players; ++size) {
      exact.best.push_back(scale.best(size));
      exact.random.push_back(scale.random(size));
    }
    add_choices(exact, scale, whole ? choosing : *choosing_among, table, options, progress);
  }
  if (std::ssize(oracle.heads) > most_exact_players) {
    progress("sampled Shapley values", 0);
    oracle.sampled = sampled_shapley(measuring, oracle_orders, Rng(options.seed, "orders"));
    progress("sampled Shapley values", 1);
  }
  return oracle;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
