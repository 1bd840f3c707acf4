// The regret of metrics and choosers, measured on all subsets of heads, over training.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/importance/importance_trace_tables.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/text.hpp"
#include "headroom/statistics/intervals.hpp"
#include "headroom/statistics/ranks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The mean over the games of a point, without those that have no such number.
double over_games(const TracePoint& point, const std::function<double(const ExactGame&)>& number) {
  double sum = 0, count = 0;
  for (const ExactGame& game : point.oracle->games) {
    const double of_game = number(game);
    if (std::isnan(of_game)) continue;
    sum += of_game;
    ++count;
  }
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

/// The rank correlation of a metric with exact Shapley values; NaN if it ranks no heads.
double with_shapley(const TracePoint& point, const std::string& metric) {
  return over_games(point, [&](const ExactGame& game) {
    Numbers scores;
    for (const HeadScore& score : point.table.importance(metric)) {
      const auto found = std::find(game.players.begin(), game.players.end(), score.head);
      if (found != game.players.end()) scores.push_back(score.score);
    }
    const auto [least, most] = std::minmax_element(scores.begin(), scores.end());
    const bool ranks =
        scores.size() > 2 && *most - *least > 1e-5 * std::max(std::abs(*least), std::abs(*most));
    return ranks ? rank_correlation(scores, game.shapley)
                 : std::numeric_limits<double>::quiet_NaN();
  });
}

/// The number of heads that are `quarters` quarters of all players, rounded.
Index removed_of(Index players, Index quarters) { return (players * quarters + 2) / 4; }

/// The regret of a choice with so many quarters of each game's heads removed, as a share of the
/// mean regret of random subsets.
double regret_at(const TracePoint& point, const std::string& choice, Index quarters) {
  return over_games(point, [&](const ExactGame& game) {
    const auto found = std::find_if(game.choices.begin(), game.choices.end(),
                                    [&](const auto& of) { return of.name == choice; });
    const Index players = std::ssize(game.players);
    return at(found->regrets, players - removed_of(players, quarters)).share;
  });
}

std::string sizes_text(const TracePoint& point, Index quarters) {
  std::string text;
  for (const ExactGame& game : point.oracle->games) {
    const Index players = std::ssize(game.players);
    text += fmt::format("{}{} of {} heads", text.empty() ? "" : ", ", removed_of(players, quarters),
                        players);
  }
  return text;
}

}  // namespace

std::string trace_oracle_text(const std::vector<TracePoint>& points, const TerminalStyle& style) {
  const std::vector<Index> steps = steps_of(points);
  const auto section = [&](const std::string& title) {
    return "\n" + wrapped(title, style.columns) + "\n";
  };
  std::vector<std::string> metrics, choices, choosers;
  for (const auto& column : points.front().table.columns) metrics.push_back(column.info.name);
  for (const OracleChoice& choice : points.front().oracle->games.front().choices) {
    choices.push_back(choice.name);
    if (choice.is_chooser) choosers.push_back(choice.name);
  }
  const Oracle& first = *points.front().oracle;
  std::string text =
      section(fmt::format("Rank correlation with exact Shapley values on {} other examples{}",
                          first.examples, first.games.size() > 1 ? " (mean over the games)" : ""));
  text += table_over_steps(metrics, steps, style, [&](std::size_t row, Index step) {
    return mean_text(
        at_step(points, step,
                [&](const TracePoint& point) { return with_shapley(point, metrics[row]); }),
        style);
  });
  for (const Index quarters : {1, 2, 3}) {
    text +=
        section(fmt::format("Regret with {} removed, on other examples: 0 is the best subset, "
                            "1 is chance",
                            sizes_text(points.front(), quarters)));
    text += table_over_steps(choices, steps, style, [&](std::size_t row, Index step) {
      return mean_text(at_step(points, step,
                               [&](const TracePoint& point) {
                                 return regret_at(point, choices[row], quarters);
                               }),
                       style);
    });
  }
  text += section(fmt::format("Regret of the choosers at step {}, for each run", steps.back()));
  for (const std::string& chooser : choosers) {
    for (const Index quarters : {1, 2, 3}) {
      text += padded(fmt::format("  {}, {}/4 removed", chooser, quarters), 28);
      for (const TracePoint& point : points) {
        if (point.step == steps.back()) {
          text += fmt::format("{:7.2f}", regret_at(point, chooser, quarters));
        }
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
