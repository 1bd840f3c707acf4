// Tables of an evaluation.
#include "headroom_lab/report/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/text.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr std::size_t most_classes = 12;     // of a matrix of confusions
constexpr std::size_t most_confusions = 20;  // of a list of them

/// Percents as numbers of their own, so that tables show 87.2 and not 0.872.
Interval shown_as(const Rule& rule, Interval interval) {
  if (!rule.in_percent) return interval;
  return {100 * interval.value, 100 * interval.low, 100 * interval.high};
}
std::string unit_of(const Rule& rule) { return rule.title + (rule.in_percent ? ", %" : ""); }

Table measures_table(const Scores& scores, EvaluationRecord& record) {
  Table table{.title = "Measures", .columns = {"measure", "value", "95 % interval"}};
  for (const Rule& rule : scores.rules) {
    const Interval value = measured(scores, rule);
    record.measures[rule.key] = value;
    const Interval shown = shown_as(rule, value);
    table.rows.push_back(
        {unit_of(rule), shown.value,
         fmt::format("{} to {}", figure_text(shown.low), figure_text(shown.high))});
  }
  return table;
}

Table length_table(const Scores& scores) {
  const Rule& rule = scores.rules.front();
  const Rule& loss = *std::find_if(scores.rules.begin(), scores.rules.end(),
                                   [](const Rule& one) { return one.key == "loss"; });
  const bool both = &rule != &loss;  // a text is measured by its loss alone
  Table table{.title = "By length of the input, in tokens",
              .columns = {"length", "examples", unit_of(rule)}};
  if (both) table.columns.push_back(unit_of(loss));
  for (const std::vector<std::size_t>& group : by_length(scores)) {
    const Index from = scores.examples[group.front()].length,
                to = scores.examples[group.back()].length;
    std::vector<Value> row{from == to ? fmt::format("{}", from) : fmt::format("{} to {}", from, to),
                           std::ssize(group), shown_as(rule, measured(scores, rule, group))};
    if (both) row.push_back(measured(scores, loss, group).value);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table class_table(const Scores& scores, const std::vector<std::vector<Index>>& matrix) {
  Table table{.title = "By class",
              .columns = {"class", "examples", "precision, %", "recall, %", "F1, %"}};
  for (std::size_t c = 0; c < scores.classes.size(); ++c) {
    Index actual = 0;
    for (const Index count : matrix[c]) actual += count;
    std::vector<Value> row{scores.classes[c], actual};
    for (const Rule& rule : rules_of_class(scores, c)) {
      row.push_back(shown_as(rule, measured(scores, rule)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table confusion_table(const Scores& scores, const std::vector<std::vector<Index>>& matrix) {
  if (scores.classes.size() <= most_classes) {
    Table table{.title = "Confusion matrix: rows are the right classes, columns the predicted ones",
                .columns = {"right \\ predicted"}};
    table.columns.insert(table.columns.end(), scores.classes.begin(), scores.classes.end());
    for (std::size_t c = 0; c < matrix.size(); ++c) {
      std::vector<Value> row{scores.classes[c]};
      row.insert(row.end(), matrix[c].begin(), matrix[c].end());
      table.rows.push_back(std::move(row));
    }
    return table;
  }
  struct Confusion {
    std::size_t right, predicted;
    Index count;
  };
  std::vector<Confusion> all;
  for (std::size_t r = 0; r < matrix.size(); ++r) {
    for (std::size_t p = 0; p < matrix.size(); ++p) {
      if (r != p && matrix[r][p] > 0) all.push_back({r, p, matrix[r][p]});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  all.resize(std::min(all.size(), most_confusions));
  Table table{.title = "The most frequent confusions",
              .columns = {"right", "predicted", "examples"}};
  for (const Confusion& one : all) {
    table.rows.push_back({scores.classes[one.right], scores.classes[one.predicted], one.count});
  }
  return table;
}

}  // namespace

EvaluationRecord evaluation_record(const Scores& scores, std::size_t worst) {
  EvaluationRecord record;
  record.examples = std::ssize(scores.examples);
  const bool is_text = scores.kind == ModelKind::language_model;
  if (!is_text) {
    record.wrong = std::count_if(scores.examples.begin(), scores.examples.end(),
                                 [](const ScoredExample& one) { return !one.right; });
  }
  record.tables.push_back(measures_table(scores, record));
  if (!is_text) record.tables.push_back(length_table(scores));
  if (!scores.classes.empty()) {
    const auto matrix = confusions(scores);
    record.tables.push_back(class_table(scores, matrix));
    record.tables.push_back(confusion_table(scores, matrix));
  }
  for (const std::size_t i : worst_examples(scores, worst)) {
    record.worst.push_back({.scores = scores.examples[i], .asked = scores.examples[i].input});
  }
  return record;
}

std::string evaluation_text(const EvaluationRecord& record, const TerminalStyle& style) {
  std::string text = fmt::format("{} example{} of {}\n{}", with_commas(record.examples),
                                 record.examples == 1 ? "" : "s", record.data, record.notes);
  for (const Table& table : record.tables) {
    text += fmt::format("\n{}\n{}", emphasised(words(table.title), Emphasis::strong, style),
                        table_text(table, style, 2));
  }
  return text;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
