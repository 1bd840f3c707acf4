// Reads the runs of a study that are done, and the scores of its trunks.
#include "headroom/study/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/heads/head_records.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"
#include "headroom/statistics/ranks.hpp"
#include "study/folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

Record record_in(const fs::path& file) { return parse_json(read_file(file), file.string()); }

/// The lines of metrics.jsonl that are evaluations.
std::vector<Record> evaluations(const fs::path& file) {
  std::vector<Record> lines;
  std::istringstream text(read_file(file));
  for (std::string line; std::getline(text, line);) {
    if (line.find("\"validation_loss\"") == std::string::npos) continue;
    lines.push_back(parse_json(line, file.string()));
  }
  return lines;
}

/// A measure of a run, by its name in the declaration: [cut.][test.]NAME.
std::optional<double> measure_of_run(std::string name, const Record& summary, const Record& last) {
  const auto drop = [&name](const std::string& prefix) {
    const bool found = name.starts_with(prefix);
    if (found) name.erase(0, prefix.size());
    return found;
  };
  const bool cut = drop("cut."), test = drop("test.");
  if (test && name == "loss") name = "test_loss";
  const Record values = cut ? summary.value("after_cut", Record::object())
                                  .value(test ? "test" : "validation", Record::object())
                        : test ? summary.value("test", Record::object())
                               : last;
  if (!values.contains(name) || !values[name].is_number()) return std::nullopt;
  return values[name].get<double>();
}

/// The kinds of attention in a trunk's model.
std::vector<std::string> kinds_of(const fs::path& trunk) {
  const fs::path file = trunk / "summary.json";
  std::vector<std::string> kinds;
  for (const Record& head : record_in(file).at("alive")) {
    const std::string text = head.get<std::string>(), kind = text.substr(0, text.find(' '));
    if (kinds.empty() || kinds.back() != kind) kinds.push_back(kind);
  }
  return kinds;
}

CellResult cell_result(const StudyCell& cell, const StudyDeclaration& declaration,
                       const StudyFolder& folder, const std::vector<std::string>& kinds) {
  const fs::path path = folder.cell(cell.key), file = path / "summary.json";
  const Record summary = record_in(file);
  CellResult result{.key = cell.key,
                    .trunk = cell.trunk,
                    .seed = cell.seed,
                    .fold = cell.fold,
                    .draw = cell.draw,
                    .steps = json_integer(summary, "steps", file.string()),
                    .parameters = json_integer(summary, "parameters", file.string())};
  for (const std::string& kind : kinds) result.kept[kind] = 0;
  for (const Record& head : summary.at("alive")) {
    const std::string text = head.get<std::string>();
    ++result.kept[text.substr(0, text.find(' '))];
  }
  Record last = Record::object();
  for (const Record& line : evaluations(path / "metrics.jsonl")) {
    result.evaluations.push_back({json_number(line, "step", file.string()),
                                  json_number(line, "validation_loss", file.string())});
    if (line["step"] == result.steps) last = line;
  }
  for (const std::string& measure : declaration.measures) {
    if (const auto value = measure_of_run(measure, summary, last))
      result.measures[measure] = *value;
  }
  if (summary.contains("timeline")) {
    result.timeline = struct_of<std::vector<PruningEvent>>(summary["timeline"], file.string());
  }
  return result;
}

/// Values by seed.
using BySeed = std::map<Index, std::vector<double>>;

Interval mean_over_seeds(const BySeed& values) {
  std::vector<double> means;
  for (const auto& [seed, all] : values) {
    double sum = 0;
    for (const double value : all) sum += value;
    means.push_back(sum / double(all.size()));
  }
  return mean_interval(means);
}

/// Collects the scores of trunks: correlations of metrics, and regret in games.
class TrunkScores {
 public:
  void add(Index seed, const Record& scores) {
    std::vector<std::pair<std::string, std::vector<double>>> columns;
    for (const Record& metric : scores.at("metrics")) {
      std::vector<double> values = metric.at("scores").get<std::vector<double>>();
      if (metric.at("keep_low").get<bool>()) {
        for (double& value : values) value = -value;
      }
      columns.emplace_back(metric.at("name").get<std::string>(), std::move(values));
    }
    for (const auto& [x, of_x] : columns) {
      if (std::find(metrics_.begin(), metrics_.end(), x) == metrics_.end()) metrics_.push_back(x);
      for (const auto& [y, of_y] : columns) {
        correlations_[{x, y}][seed].push_back(rank_correlation(of_x, of_y));
      }
    }
    if (!scores.contains("games")) return;
    for (const Record& game : scores.at("games")) add_game(seed, game);
  }

  std::vector<StudyAgreement> agreement() const {
    std::vector<StudyAgreement> all;
    for (const std::string& x : metrics_) {
      for (const std::string& y : metrics_) {
        const auto found = correlations_.find({x, y});
        if (found != correlations_.end()) all.push_back({x, y, mean_over_seeds(found->second)});
      }
    }
    return all;
  }

  std::vector<StudyRegret> regret() const {
    std::vector<StudyRegret> all;
    for (const Regret& known : regrets_) {
      all.push_back({known.game, known.metric, known.kept, mean_over_seeds(known.values)});
    }
    return all;
  }

 private:
  struct Regret {
    std::string game, metric;
    Index kept;
    BySeed values;
  };

  void add_game(Index seed, const Record& game) {
    const auto title = game.at("title").get<std::string>();
    for (const auto& [metric, values] : game.at("regret").items()) {
      for (std::size_t kept = 0; kept < values.size(); ++kept) {
        if (!values[kept].is_number()) continue;  // no regret is defined
        Regret& known = entry(title, metric, Index(kept));
        known.values[seed].push_back(values[kept].get<double>());
      }
    }
  }

  Regret& entry(const std::string& game, const std::string& metric, Index kept) {
    for (Regret& known : regrets_) {
      if (known.game == game && known.metric == metric && known.kept == kept) return known;
    }
    return regrets_.emplace_back(Regret{game, metric, kept, {}});
  }

  std::vector<std::string> metrics_;
  std::map<std::pair<std::string, std::string>, BySeed> correlations_;
  std::vector<Regret> regrets_;
};

}  // namespace

Index CellResult::heads() const {
  Index sum = 0;
  for (const auto& [kind, heads] : kept) sum += heads;
  return sum;
}

StudyResults results_of(const StudyDeclaration& declaration, const StudyPlan& plan,
                        const std::filesystem::path& path) {
  const StudyFolder folder{path};
  StudyResults results;
  std::vector<std::string> kinds;
  TrunkScores scores;
  for (const TrunkPlan& trunk : plan.trunks) {
    if (kinds.empty() && fs::exists(folder.trunk(trunk.key) / "summary.json")) {
      kinds = kinds_of(folder.trunk(trunk.key));
    }
    if (fs::exists(folder.scores(trunk.key)))
      scores.add(trunk.seed, record_in(folder.scores(trunk.key)));
  }
  results.agreement = scores.agreement();
  results.regret = scores.regret();
  std::set<std::string> done;
  for (const StudyCell& cell : plan.cells) {
    if (!fs::exists(folder.cell(cell.key) / "summary.json")) continue;
    results.cells.push_back(cell_result(cell, declaration, folder, kinds));
    done.insert(cell.key);
  }
  for (const StudyEntry& entry : plan.entries) {
    if (done.contains(entry.cell)) {
      results.roles.push_back({Index(entry.condition), entry.arm, entry.cell});
    }
  }
  summarise(declaration, plan, results);
  return results;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
