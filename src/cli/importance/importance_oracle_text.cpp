// The oracle's results as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "cli/importance/importance_oracle.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/statistics/intervals.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom_lab/blocks/table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A number in at most four characters, five if it is negative or 1000 and more.
std::string short_cell(double value) {
  if (std::isnan(value)) return "-";
  if (std::abs(value) < 9.995) return fmt::format("{:.2f}", value);
  return std::abs(value) < 99.95 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

std::string title_line(const std::string& text, const TerminalStyle& style) {
  return "\n" + emphasised(wrapped(text, style.columns), Emphasis::strong, style) + "\n";
}

// ---------------------------------------------------------------- heads

/// v(all but h) - v(all) of each head h.
std::vector<double> costs_of(const ExactGame& game) {
  std::vector<double> costs;
  const std::size_t all = game.values.size() - 1;
  for (std::size_t h = 0; h < game.players.size(); ++h) {
    costs.push_back(game.values[all ^ std::size_t{1} << h] - game.values[all]);
  }
  return costs;
}

/// v(none) - v(h) of each head h.
std::vector<double> worths_alone_of(const ExactGame& game) {
  std::vector<double> worths;
  for (std::size_t h = 0; h < game.players.size(); ++h) {
    worths.push_back(game.values[0] - game.values[std::size_t{1} << h]);
  }
  return worths;
}

std::string heads_table(const ExactGame& game, const TerminalStyle& style) {
  const std::vector<double> banzhaf = exact_banzhaf(game.values, std::ssize(game.players)),
                            costs = costs_of(game), alone = worths_alone_of(game);
  Table table{.columns = {"", "Shapley", "Banzhaf", "removed", "alone"}};
  for (std::size_t h = 0; h < game.players.size(); ++h) {
    table.rows.push_back({fmt::format("{:3} {}", h + 1, game.players[h].text())});
    for (const double value : {game.shapley[h], banzhaf[h], costs[h], alone[h]}) {
      table.rows.back().push_back(fmt::format("{:.4g}", value));
    }
  }
  return table_text(table, style);
}

std::string axioms_text(const ExactGame& game, const TerminalStyle& style) {
  const Interval rate = rate_interval(game.coverage.inside, game.coverage.cases);
  return wrapped(
             fmt::format(
                 "removed: v(all but h) - v(all); alone: v(none) - v(h). The sum of the "
                 "Shapley values differs from v(none) - v(all) = {:.6g} by {:.2g}. The values "
                 "of twins (any two heads, in the game in which v does not change when they "
                 "are exchanged) differ by at most {:.2g}. Both differences must be below 1e-9.",
                 game.values.front() - game.values.back(), game.axioms.sum_error,
                 game.axioms.twin_error),
             style.columns) +
         "\n" +
         wrapped(fmt::format("Shapley values sampled from {} random orders, {} times: the 95 % "
                             "intervals contain the exact value in {} of {} cases ({:.1f} %).",
                             oracle_orders, oracle_repeats, game.coverage.inside,
                             game.coverage.cases, 100 * rate.value),
                 style.columns) +
         "\n";
}

std::string best_subsets_text(const ExactGame& game, const TerminalStyle& style) {
  const Index players = std::ssize(game.players);
  Table table{.columns = {"heads  present", "best loss", "mean of size"}};
  for (const HeadSet& subset : best_subsets(game.values, players)) {
    const auto size = std::ssize(table.rows);
    std::string heads;
    for (Index h = 0; h < players; ++h) heads += subset.contains(h) ? '#' : '.';
    table.rows.push_back({fmt::format("{:5}  {}", size, heads),
                          fmt::format("{:.4g}", at(game.best, size)),
                          fmt::format("{:.4g}", at(game.random, size))});
  }
  return table_text(table, style, 2);
}

/// Interactions above the diagonal, dividends below it.
std::string pairs_matrix(const ExactGame& game, const TerminalStyle& style) {
  const Index players = std::ssize(game.players);
  const auto above = pair_interactions(game.values, players),
             below = pair_dividends(game.values, players);
  Table table{.columns = {""}};
  for (Index i = 0; i < players; ++i) {
    table.columns.push_back(std::to_string(i + 1));
    table.rows.push_back({fmt::format("{:2}", i + 1)});
    for (Index j = 0; j < players; ++j) {
      table.rows.back().push_back(i == j ? "" : short_cell(at(at(i < j ? above : below, i), j)));
    }
  }
  return table_text(table, style, 2);
}

// ---------------------------------------------------------------- regret

/// The mean of the shares over all sizes that have one.
double mean_share(const OracleChoice& choice) {
  double sum = 0, count = 0;
  for (const Regret& regret : choice.regrets) {
    if (std::isnan(regret.share)) continue;
    sum += regret.share;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

using OfRegret = std::function<double(const Regret&)>;

/// A row for each choice, a column for each number of heads removed, and the median of the errors.
std::string regret_table(const ExactGame& game, const OfRegret& value, const OfRegret& error,
                         const TerminalStyle& style) {
  std::vector<OracleChoice> order = game.choices;
  std::stable_sort(order.begin(), order.end(), [](const OracleChoice& a, const OracleChoice& b) {
    if (a.is_chooser != b.is_chooser) return a.is_chooser;
    return mean_share(a) < mean_share(b);
  });
  const Index players = std::ssize(game.players);
  Table table{.columns = {"heads removed"}};
  for (const OracleChoice& choice : order) {
    table.rows.push_back({(choice.is_chooser ? "* " : "  ") + choice.name});
  }
  table.rows.push_back({"  median standard error"});
  for (Index gone = 1; gone < players; ++gone) {
    table.columns.push_back(std::to_string(gone));
    std::vector<double> errors;
    for (std::size_t c = 0; c < order.size(); ++c) {
      const Regret& regret = at(order[c].regrets, players - gone);
      table.rows[c].push_back(short_cell(value(regret)));
      errors.push_back(error(regret));
    }
    table.rows.back().push_back(short_cell(median(errors)));
  }
  return table_text(table, style);
}

std::string game_text(const ExactGame& game, const TerminalStyle& style) {
  std::string text =
      title_line(fmt::format("{}: loss {:.4g} with all {}, {:.4g} with none", game.title,
                             game.values.back(), game.players.size(), game.values.front()),
                 style);
  text += heads_table(game, style) + axioms_text(game, style);
  text +=
      title_line(
          "The best subset of each size (# kept, . removed), with the heads in the order of the "
          "table above",
          style) +
      best_subsets_text(game, style);
  if (game.players.size() < 2) return text;
  text += title_line(
              "Pairs of heads, in units of the loss. Above the diagonal: the interaction in the "
              "whole model, "
              "v(-ij) - v(-i) - v(-j) + v(all), which is positive if each can replace the other. "
              "Below the diagonal: the Harsanyi dividend, v(ij) - v(i) - v(j) + v(none)",
              style) +
          pairs_matrix(game, style);
  text += title_line(
              "Regret as a share of the mean regret of random subsets: 0 is the best subset, 1 is "
              "chance. Choosers are marked with *. Metrics keep the heads with the highest scores",
              style) +
          regret_table(
              game, [](const Regret& regret) { return regret.share; },
              [](const Regret& regret) { return regret.share_error; }, style);
  text += title_line("Regret in units of the loss: v(kept) - v(best subset of this size)", style) +
          regret_table(
              game, [](const Regret& regret) { return regret.nats; },
              [](const Regret& regret) { return regret.nats_error; }, style);
  return text;
}

std::string sampled_text(const Oracle& oracle, const TerminalStyle& style) {
  std::string text = title_line(
      fmt::format("Shapley values of all {} heads, sampled from {} random orders, with standard "
                  "errors and 95 % intervals",
                  oracle.heads.size(), oracle_orders),
      style);
  for (std::size_t h = 0; h < oracle.heads.size(); ++h) {
    const Interval& interval = oracle.sampled->intervals[h];
    text += padded("  " + oracle.heads[h].text(), 18) +
            fmt::format("{:12.4g}{:12.2g}   [{:.4g}, {:.4g}]\n", oracle.sampled->values[h],
                        oracle.sampled->errors[h], interval.low, interval.high);
  }
  return text;
}

Record game_record(const ExactGame& game) {
  const Index players = std::ssize(game.players);
  Record heads = Record::array(), best = Record::array(), names = Record::array();
  for (const HeadId& head : game.players) heads.push_back(head.text());
  for (const HeadSet& subset : best_subsets(game.values, players)) best.push_back(subset.bits());
  Record share = Record::object(), nats = share, share_error = share, nats_error = share;
  for (const OracleChoice& choice : game.choices) {
    if (choice.is_chooser) names.push_back(choice.name);
    for (const Regret& regret : choice.regrets) {
      share[choice.name].push_back(json_of(regret.share));
      nats[choice.name].push_back(json_of(regret.nats));
      share_error[choice.name].push_back(json_of(regret.share_error));
      nats_error[choice.name].push_back(json_of(regret.nats_error));
    }
  }
  return {{"title", game.title},
          {"heads", heads},
          {"values", game.values},
          {"shapley", game.shapley},
          {"banzhaf", exact_banzhaf(game.values, players)},
          {"leave_one_out", costs_of(game)},
          {"alone", worths_alone_of(game)},
          {"sum_error", game.axioms.sum_error},
          {"twin_error", game.axioms.twin_error},
          {"interactions", pair_interactions(game.values, players)},
          {"dividends", pair_dividends(game.values, players)},
          {"triple_dividends",
           {{"loss", triple_dividends(game.values, players)}, {"entropy", game.entropy_triples}}},
          {"sampled",
           {{"orders", oracle_orders},
            {"repeats", oracle_repeats},
            {"cases", game.coverage.cases},
            {"inside", game.coverage.inside}}},
          {"best_subsets", best},
          {"best_loss", game.best},
          {"random_loss", game.random},
          {"choosers", names},
          {"regret", share},
          {"regret_error", share_error},
          {"regret_nats", nats},
          {"regret_nats_error", nats_error}};
}

}  // namespace

std::string oracle_text(const Oracle& oracle, const TerminalStyle& style) {
  std::string text = wrapped(
      fmt::format("Metrics and choosers choose on {} examples of the set {}. The losses of all "
                  "subsets, the Shapley values and the regrets are measured on {} other examples, "
                  "of the set {}. Standard errors are by bootstrap over these examples.",
                  oracle.chosen_examples, name_of(oracle.chosen_on), oracle.examples,
                  name_of(oracle.measured_on)),
      style.columns);
  text += "\n";
  for (const ExactGame& game : oracle.games) text += game_text(game, style);
  if (oracle.sampled) text += sampled_text(oracle, style);
  return text;
}

Record oracle_record(const Oracle& oracle) {
  Record games = Record::array();
  for (const ExactGame& game : oracle.games) games.push_back(game_record(game));
  Record record{{"oracle",
                 {{"chosen_on", name_of(oracle.chosen_on)},
                  {"chosen_examples", oracle.chosen_examples},
                  {"measured_on", name_of(oracle.measured_on)},
                  {"examples", oracle.examples}}},
                {"games", games}};
  if (oracle.sampled) {
    Record heads = Record::array();
    for (const HeadId& head : oracle.heads) heads.push_back(head.text());
    record["sampled_shapley"] = {{"orders", oracle_orders},
                                 {"heads", heads},
                                 {"values", oracle.sampled->values},
                                 {"errors", oracle.sampled->errors},
                                 {"intervals", json_of(oracle.sampled->intervals)}};
  }
  return record;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
