// Reads the runs of a study that are done, and the scores of its trunks.
#include "headroom_lab/study/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "headroom/base/error.hpp"
#include "headroom/base/listed.hpp"
#include "headroom/base/names.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom_measure/importance/regret.hpp"
#include "headroom_runs/records/head_records.hpp"
#include "headroom_runs/runs/manifest.hpp"
#include "headroom_runs/runs/measured_after.hpp"
#include "study/folder.hpp"
#include "study/head_scores_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

Record record_in(const fs::path& file) { return parse_json(read_file(file), file.string()); }

/// The lines of metrics.jsonl that are evaluations.
std::vector<MetricsLine> evaluations(const fs::path& file) {
  std::vector<MetricsLine> lines;
  std::istringstream text(read_file(file));
  for (std::string line; std::getline(text, line);) {
    if (line.find("\"validation_loss\"") == std::string::npos) continue;
    const MetricsLine read = struct_of<MetricsLine>(parse_json(line, file.string()), file.string());
    if (read.numbers.contains("validation_loss")) lines.push_back(read);
  }
  return lines;
}

/// The summary.json of a run, and the parts of it that a study uses.
struct RunSummary {
  Index steps = 0, parameters = 0;
  std::vector<HeadId> alive = {};
  std::map<std::string, double> test = {};
  std::optional<AfterCut> after_cut = {};
  std::vector<PruningEvent> timeline = {};
  std::optional<TaskCheck> task_check = {};
  std::map<std::string, Record> others = {};

  using T = RunSummary;
  using Fields =
      Listed<if_any<&T::steps>, if_any<&T::parameters>, &T::alive, if_any<&T::test>, &T::after_cut,
             if_any<&T::timeline>, &T::task_check, all_others<&T::others>>;
};

RunSummary summary_in(const fs::path& file) {
  return struct_of<RunSummary>(record_in(file), file.string());
}

/// A measure of a run, by its name in the declaration: [cut.][test.]NAME.
std::optional<double> measure_of_run(std::string name, const RunSummary& summary,
                                     const std::map<std::string, double>& last) {
  const auto drop = [&name](const std::string& prefix) {
    const bool found = name.starts_with(prefix);
    if (found) name.erase(0, prefix.size());
    return found;
  };
  const bool cut = drop("cut."), test = drop("test.");
  if (test && name == "loss") name = "test_loss";
  const AfterCut after_cut = summary.after_cut.value_or(AfterCut());
  const std::map<std::string, double>& values = cut ? (test ? after_cut.test : after_cut.validation)
                                                : test ? summary.test
                                                       : last;
  const auto found = values.find(name);
  if (found == values.end() || !std::isfinite(found->second)) return std::nullopt;
  return found->second;
}

/// The kinds of attention in a trunk's model.
std::vector<std::string> kinds_of(const fs::path& trunk) {
  std::vector<std::string> kinds;
  for (const HeadId& head : summary_in(trunk / "summary.json").alive) {
    const std::string kind(name_of(head.kind));
    if (kinds.empty() || kinds.back() != kind) kinds.push_back(kind);
  }
  return kinds;
}

CellResult cell_result(const StudyCell& cell, const StudyDeclaration& declaration,
                       const StudyFolder& folder, const std::vector<std::string>& kinds) {
  const fs::path path = folder.cell(cell.key);
  const RunSummary summary = summary_in(path / "summary.json");
  check_log(path);
  CellResult result{.key = cell.key,
                    .trunk = cell.trunk,
                    .seed = cell.seed,
                    .fold = cell.fold,
                    .draw = cell.draw,
                    .steps = summary.steps,
                    .parameters = summary.parameters};
  for (const auto& [name, value] : cell.options) {
    const auto base = declaration.base.find(name);
    if (base == declaration.base.end() || base->second != value) result.settings[name] = value;
  }
  for (const std::string& kind : kinds) result.kept[kind] = 0;
  for (const HeadId& head : summary.alive) ++result.kept[name_of(head.kind)];
  result.multiply_adds = multiply_adds_of(cell.settings().training.model, result.kept);
  std::map<std::string, double> last;
  for (const MetricsLine& line : evaluations(path / "metrics.jsonl")) {
    result.evaluations.push_back({double(line.step), line.numbers.at("validation_loss")});
    if (line.step == result.steps) last = line.numbers;
  }
  for (const std::string& measure : declaration.measures) {
    if (const auto value = measure_of_run(measure, summary, last))
      result.measures[measure] = *value;
  }
  result.timeline = summary.timeline;
  return result;
}

/// Values by seed.
using BySeed = std::map<Index, std::vector<double>>;

Interval mean_over_seeds(const BySeed& values) {
  std::vector<double> means;
  for (const auto& [seed, all] : values) means.push_back(mean_of(all));
  return mean_interval(means);
}

/// Collects the scores of trunks: correlations of metrics, and regret in games.
class TrunkScores {
 public:
  void add(Index seed, const HeadScoresFile& scores) {
    std::vector<std::pair<std::string, std::vector<double>>> columns;
    for (const auto& [name, keep_low, found, others] : scores.metrics) {
      std::vector<double> values = found;
      if (keep_low) {
        for (double& value : values) value = -value;
      }
      columns.emplace_back(name, std::move(values));
    }
    const std::set<std::string> constant(scores.constant.begin(), scores.constant.end());
    constant_.insert(constant.begin(), constant.end());
    for (const auto& [x, of_x] : columns) {
      if (std::find(metrics_.begin(), metrics_.end(), x) == metrics_.end()) metrics_.push_back(x);
      for (const auto& [y, of_y] : columns) {
        BySeed& correlations = correlations_[{x, y}];
        if (constant.contains(x) || constant.contains(y)) continue;
        correlations[seed].push_back(rank_correlation(of_x, of_y));
      }
    }
    for (const HeadScoresFile::Game& game : scores.games) add_game(seed, game);
  }

  std::vector<StudyAgreement> agreement() const {
    std::vector<StudyAgreement> all;
    for (const std::string& x : metrics_) {
      for (const std::string& y : metrics_) {
        const auto found = correlations_.find({x, y});
        if (found == correlations_.end()) continue;
        all.push_back({x, y});
        if (!found->second.empty()) all.back().correlation = mean_over_seeds(found->second);
      }
    }
    return all;
  }

  std::vector<StudyRegret> regret() const {
    std::vector<StudyRegret> all;
    for (const Regret& known : regrets_) {
      std::vector<SeedValue> seeds;
      for (const auto& [seed, values] : known.values) seeds.push_back({seed, mean_of(values)});
      all.push_back({known.game, known.metric, known.kept, mean_over_seeds(known.values),
                     std::move(seeds),
                     is_candidate(known.metric) && !constant_.contains(known.metric)});
    }
    return all;
  }

 private:
  struct Regret {
    std::string game, metric;
    Index kept;
    BySeed values;
  };

  void add_game(Index seed, const HeadScoresFile::Game& game) {
    for (const auto& [metric, values] : game.regret) {
      for (std::size_t kept = 0; kept < values.size(); ++kept) {
        if (!std::isfinite(values[kept])) continue;  // no regret is defined
        Regret& known = entry(game.title, metric, Index(kept));
        known.values[seed].push_back(values[kept]);
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
  std::set<std::string> constant_;  // in any trunk
  std::map<std::pair<std::string, std::string>, BySeed> correlations_;
  std::vector<Regret> regrets_;
};

std::vector<StudyTaskCheck> task_checks(const StudyPlan& plan, const StudyFolder& folder) {
  std::vector<StudyTaskCheck> checks;
  const auto add = [&](const fs::path& run, Index seed, Index fold) {
    if (!fs::exists(run / "summary.json")) return false;
    checks.push_back({fs::relative(run, folder.path).generic_string(), seed, fold,
                      summary_in(run / "summary.json").task_check});
    return true;
  };
  for (const TrunkPlan& trunk : plan.trunks) {
    bool whole = false;  // a run that trained on with all heads is done
    for (const StudyCell& cell : plan.cells) {
      if (cell.control != StudyControl::none || cell.trunk != trunk.key) continue;
      if (add(folder.cell(cell.key), trunk.seed, trunk.fold)) whole = true;
    }
    if (!whole) add(folder.trunk(trunk.key), trunk.seed, trunk.fold);
  }
  return checks;
}

}  // namespace

double multiply_adds_of(const ModelConfig& model, const std::map<std::string, Index>& kept) {
  const BlockConfig& block = model.block;
  const auto c = double(block.width);
  const double d = block.head_dim > 0 ? double(block.head_dim) : c / double(block.heads);
  const double f = block.hidden > 0 ? double(block.hidden) : 4 * c;
  const double head = block.layout == Layout::shared ? 3 * d * d + c * d : 4 * c * d;
  double all = (kept.contains("cross") ? 2 : 1) * double(model.layers) * 2 * c * f;
  for (const auto& [kind, heads] : kept) all += double(heads) * head;
  return all;
}

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
    if (!fs::exists(folder.scores(trunk.key))) continue;
    const HeadScoresFile file = head_scores_in(folder.scores(trunk.key));
    scores.add(trunk.seed, file);
    StudyScores& all = results.scores.emplace_back(
        StudyScores{.trunk = trunk.key, .seed = trunk.seed, .fold = trunk.fold});
    for (const HeadHistory& head : file.heads) all.heads.push_back(head.id);
    for (const HeadScoresFile::Metric& metric : file.metrics) {
      all.metrics.push_back({metric.name, metric.keep_low, metric.scores});
    }
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
  results.task_checks = task_checks(plan, folder);
  summarise(declaration, plan, results);
  results.provenance = provenance_of(declaration, plan, path);
  results.provenance.warning = processors_warning(results);
  return results;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
