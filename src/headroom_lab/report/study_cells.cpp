// The runs of a study and the scores of its heads one by one: files for other programs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "headroom/base/names.hpp"
#include "report/study_numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr std::size_t most_of_a_run = 50;  // of a curve on a page

/// The conditions and arms of the runs, by key: a run may have several roles.
struct Roles {
  std::vector<std::string> conditions, arms;
};

std::map<std::string, Roles> roles_of(const StudyResults& results) {
  std::map<std::string, Roles> all;
  const auto add = [](std::vector<std::string>& list, const std::string& text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
  };
  for (const StudyRole& role : results.roles) {
    add(all[role.cell].conditions, results.conditions[std::size_t(role.condition)]);
    add(all[role.cell].arms, role.arm);
  }
  return all;
}

std::string joined(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, "; "));
}

}  // namespace

std::optional<double> latency_of(const StudyResults& results,
                                 const std::vector<std::string>& cells) {
  const std::map<std::string, double>& known = results.provenance.latency.milliseconds;
  double sum = 0;
  for (const std::string& cell : cells) {
    const auto time = known.find(cell);
    if (time == known.end()) return std::nullopt;
    sum += time->second;
  }
  if (cells.empty()) return std::nullopt;
  return sum / double(cells.size());
}

std::string latency_text(const StudyResults& results) {
  const StudyLatency& latency = results.provenance.latency;
  if (latency.milliseconds.empty()) return "The time of a forward pass was not measured.";
  return fmt::format(
      "A forward pass of {} examples with {} thread{}: median of passes in which all sizes take "
      "turns ({}). Equal sizes were measured once.",
      latency.examples, latency.threads, latency.threads == 1 ? "" : "s", latency.processor);
}

std::vector<std::string> cells_of(const StudyResults& results, Index condition,
                                  const std::string& arm) {
  std::vector<std::string> cells;
  for (const StudyRole& role : results.roles) {
    if (role.condition == condition && role.arm == arm) cells.push_back(role.cell);
  }
  return cells;
}

Table cells_table(const StudyResults& results) {
  const Record& base = results.declaration.at("base");
  std::set<std::string> kinds, settings;
  for (const auto& [name, value] : base.items()) settings.insert(name);
  for (const CellResult& cell : results.cells) {
    for (const auto& [kind, heads] : cell.kept) kinds.insert(kind);
    for (const auto& [name, value] : cell.settings) settings.insert(name);
  }
  Table table{.title = "Runs",
              .columns = {"run", "conditions", "arms", "trunk", "seed", "fold", "draw", "heads"}};
  table.columns.insert(table.columns.end(), kinds.begin(), kinds.end());
  table.columns.insert(table.columns.end(), {"parameters", "multiply_adds", "forward_ms"});
  for (const Record& measure : results.declaration.at("measures")) {
    table.columns.push_back(measure.get<std::string>());
  }
  for (const std::string& name : settings) table.columns.push_back("setting." + name);
  table.columns.insert(table.columns.end(), {"seconds", "finished", "machine", "processor"});
  std::map<std::string, Roles> roles = roles_of(results);
  for (const CellResult& cell : results.cells) {
    std::vector<Value>& row = table.rows.emplace_back();
    row = {cell.key,
           joined(roles[cell.key].conditions),
           joined(roles[cell.key].arms),
           cell.trunk,
           cell.seed,
           cell.fold,
           cell.draw,
           cell.heads()};
    for (const std::string& kind : kinds) {
      const auto kept = cell.kept.find(kind);
      row.push_back(kept == cell.kept.end() ? Index(0) : kept->second);
    }
    row.push_back(cell.parameters);
    row.push_back(cell.multiply_adds);
    const std::optional<double> time = latency_of(results, {cell.key});
    row.push_back(time ? Value(*time) : Value());
    for (const Record& measure : results.declaration.at("measures")) {
      const auto value = cell.measures.find(measure.get<std::string>());
      row.push_back(value == cell.measures.end() ? Value() : Value(value->second));
    }
    for (const std::string& name : settings) {
      const auto own = cell.settings.find(name);
      if (own != cell.settings.end()) {
        row.push_back(plain_text(own->second));
      } else {
        row.push_back(base.contains(name) ? Value(plain_text(base[name])) : Value());
      }
    }
    const auto run = results.provenance.runs.find("cell-" + cell.key);
    if (run == results.provenance.runs.end()) {
      row.resize(table.columns.size());
    } else {
      const StudyRunTime& time = run->second;
      row.insert(row.end(), {time.seconds, time.finished, time.machine, time.processor});
    }
  }
  return table;
}

Table head_scores_table(const StudyResults& results) {
  Table table{.title = "Scores of heads",
              .columns = {"trunk", "seed", "fold", "metric", "low scores are important", "kind",
                          "layer", "head", "score"}};
  for (const StudyScores& trunk : results.scores) {
    for (const StudyScores::Metric& metric : trunk.metrics) {
      for (std::size_t i = 0; i < trunk.heads.size(); ++i) {
        const HeadId& head = trunk.heads[i];
        table.rows.push_back({trunk.trunk, trunk.seed, trunk.fold, metric.name,
                              metric.keep_low ? "yes" : "no", name_of(head.kind), head.layer,
                              head.head, metric.scores.at(i)});
      }
    }
  }
  return table;
}

Record learning_curves(const StudyResults& results) {
  std::map<std::string, const CellResult*> cells;
  for (const CellResult& cell : results.cells) cells[cell.key] = &cell;
  std::map<std::pair<Index, std::string>, Record> runs;
  for (const StudyRole& role : results.roles) {
    const auto cell = cells.find(role.cell);
    if (cell == cells.end() || cell->second->evaluations.empty()) continue;
    const std::vector<std::vector<double>>& all = cell->second->evaluations;
    const std::size_t every = (all.size() + most_of_a_run - 1) / most_of_a_run;
    Record points = Record::array();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool shown = (all.size() - 1 - i) % every == 0;  // the last one always
      if (shown) points.push_back({all[i].at(0), std::stod(fmt::format("{:.5g}", all[i].at(1)))});
    }
    runs[{role.condition, role.arm}].push_back({{"seed", cell->second->seed}, {"points", points}});
  }
  Record curves = Record::array();
  for (auto& [role, all] : runs) {
    curves.push_back({{"condition", role.first}, {"arm", role.second}, {"runs", std::move(all)}});
  }
  return curves;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
