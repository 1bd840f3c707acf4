// The exact answer to which heads matter.
#include "cli/importance_oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/base/text.hpp"
#include "headroom/heads/shapley.hpp"
#include "headroom/io/fields.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr Index most_heads = 12;

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

/// Numbers of heads to keep: a quarter, a half and three quarters of them.
std::vector<Index> shown_sizes(Index players) {
  return {std::max<Index>(1, players / 4), players / 2, players - std::max<Index>(1, players / 4)};
}

}  // namespace

std::vector<ExactGame> exact_games(Learner& learner, Index examples,
                                   const std::function<void(double share)>& progress) {
  const std::vector<HeadId> live = live_heads(learner.model());
  std::vector<ExactGame> games;
  if (std::ssize(live) <= most_heads) {
    games.push_back({"all heads", live, {}});
  } else {
    std::map<AttentionKind, std::vector<HeadId>> kinds;
    for (const HeadId& head : live) kinds[head.kind].push_back(head);
    for (const auto& [kind, heads] : kinds) {
      if (std::ssize(heads) > most_heads) {
        throw UsageError(
            fmt::format("--oracle: {} heads of kind {}; at most {} can be in a game, "
                        "because it has 2^heads subsets",
                        heads.size(), name_of(kind), most_heads));
      }
      games.push_back({std::string(name_of(kind)), heads, {}});
    }
  }
  double all = 0, done = 0;
  for (const ExactGame& game : games) all += std::exp2(double(game.players.size()));
  for (ExactGame& exact : games) {
    HeadGame game(learner, ExampleSet::selection, examples, exact.players);
    const std::uint64_t last = game.all().bits();
    for (std::uint64_t bits = 0; bits <= last; ++bits) {
      exact.values.push_back(game.value(HeadSet::of_bits(bits)));
      progress(++done / all);
    }
  }
  return games;
}

std::string oracle_text(const ExactGame& game, const ImportanceTable& table,
                        const TerminalStyle& style) {
  const Index players = std::ssize(game.players);
  const std::vector<double> shapley = exact_shapley(game.values, players),
                            banzhaf = exact_banzhaf(game.values, players);
  std::string text =
      emphasised(fmt::format("{}: loss {:.4g} with all {}, {:.4g} with none\n", game.title,
                             game.values.back(), players, game.values.front()),
                 Emphasis::strong, style);
  text += padded("", 14) + padded("Shapley", 12, true) + padded("Banzhaf", 12, true) + "\n";
  for (std::size_t h = 0; h < game.players.size(); ++h) {
    text += padded(game.players[h].text(), 14) +
            fmt::format("{:12.4g}{:12.4g}\n", shapley[h], banzhaf[h]);
  }
  text += "\nThe best subsets (# present, . removed), in the order of the heads above\n";
  for (const HeadSet subset : best_subsets(game.values, players)) {
    std::string heads;
    Index size = 0;
    for (Index h = 0; h < players; ++h) {
      heads += subset.contains(h) ? '#' : '.';
      size += subset.contains(h) ? 1 : 0;
    }
    text += fmt::format("  {:2} heads  {}  loss {:.4g}\n", size, heads, game.values[subset.bits()]);
  }
  const std::vector<Index> sizes = shown_sizes(players);
  text += "\nRegret of keeping the most important heads: 0 is the best subset, 1 is chance\n";
  text += padded("", 20);
  for (const Index size : sizes) text += padded(fmt::format("{} heads", size), 12, true);
  text += "\n";
  for (const ImportanceTable::Column& column : table.columns) {
    text += padded("  " + column.info.name, 20);
    const std::vector<double> scores = importance_of(game, table, column.info.name);
    for (const Index size : sizes) {
      text += fmt::format("{:12.2f}", regret(game.values, players, scores, size));
    }
    text += "\n";
  }
  text += padded("  exact Shapley", 20);
  for (const Index size : sizes) {
    text += fmt::format("{:12.2f}", regret(game.values, players, shapley, size));
  }
  return text + "\n";
}

Record oracle_record(const ExactGame& game, const ImportanceTable& table) {
  const Index players = std::ssize(game.players);
  Record regrets = Record::object(), best = Record::array();
  for (const ImportanceTable::Column& column : table.columns) {
    const std::vector<double> scores = importance_of(game, table, column.info.name);
    Record& of_metric = regrets[column.info.name] = Record::array();
    for (Index kept = 0; kept <= players; ++kept) {
      of_metric.push_back(json_of(regret(game.values, players, scores, kept)));
    }
  }
  for (const HeadSet subset : best_subsets(game.values, players)) best.push_back(subset.bits());
  return {{"title", game.title},
          {"values", game.values},
          {"shapley", exact_shapley(game.values, players)},
          {"banzhaf", exact_banzhaf(game.values, players)},
          {"best_subsets", best},
          {"regret", regrets}};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
