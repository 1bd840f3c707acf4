// `headroom importance`: scores the heads of a trained model by metrics.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "cli/frame/command.hpp"
#include "cli/frame/streams.hpp"
#include "cli/importance/importance_oracle.hpp"
#include "cli/importance/importance_trace.hpp"
#include "cli/measured_model.hpp"
#include "cli/options.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/terminal.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/json.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom_foreign/folders/model_folder.hpp"
#include "headroom_lab/blocks/table.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "headroom_measure/importance/metric_names.hpp"
#include "headroom_measure/importance/task_check.hpp"
#include "headroom_measure/pruning/training_scores.hpp"
#include "headroom_runs/runs/load_learner.hpp"
#include "headroom_runs/runs/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct ImportanceCommandOptions {
  MeasuredOptions model;
  std::string metrics, set = "importance";
  ImportanceOptions options;
  std::optional<std::uint64_t> seed;     // none: that of the run
  std::optional<Index> oracle_examples;  // none: as many as of the metrics
  std::vector<std::string> trace;
  bool json = false, oracle = false;
};

/// The kind of a metric in help, by what it reads.
const char* kind_of(const MetricEntry& entry) {
  const std::unique_ptr<HeadMetric> metric = entry.make();
  const MetricNeeds needs = metric->needs();
  const std::vector<std::string> by_training = TrainingScores::metrics();
  const std::string &name = entry.info.name, &cost = entry.info.cost;
  if (metric->plays()) {
    return cost.ends_with('B') ? "gradients at other gates" : "loss without heads";
  }
  if (cost == "training" ||
      std::find(by_training.begin(), by_training.end(), name) != by_training.end()) {
    return "recorded in training";
  }
  if (needs.parameter_gradients) return "parameter gradients";
  if (needs.loss_gradients() || needs.logit_gradients) return "gate gradients";
  if (needs.head_outputs) return "outputs of heads";
  return needs.maps ? "attention weights" : "weights and controls";
}

/// The names of all metrics by kind, in lines of at most 80 columns, for help.
std::string metrics_by_kind() {
  std::vector<std::pair<std::string, std::string>> kinds;  // kind, names
  for (const MetricEntry& entry : head_metrics()) {
    const std::string kind = kind_of(entry);
    auto known =
        std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == kind; });
    if (known == kinds.end()) known = kinds.emplace(known, kind, "");
    known->second += (known->second.empty() ? "" : ", ") + entry.info.name;
  }
  std::string text = "Metrics, by what they read:";
  for (const auto& [kind, names] : kinds) {
    const std::string lines = wrapped(names, 80, help_column);
    text += "\n" + before_column("  " + kind, help_column) + lines.substr(std::size_t(help_column));
  }
  return text;
}

/// Metrics whose scores are constant, and groups of metrics that sort the heads alike.
struct Likeness {
  std::vector<std::string> constant;                 // metrics that do not tell heads apart
  std::vector<std::vector<std::string>> same_order;  // metrics that sort the heads alike
};

Likeness likeness_of(const ImportanceTable& table) {
  constexpr double rounding = is_double ? 1e-9 : 1e-5;
  Likeness likeness;
  std::vector<std::vector<double>> orders;  // of the first metric of each group
  for (const ImportanceTable::Column& column : table.columns) {
    std::vector<double> scores;
    for (const HeadScore& score : table.importance(column.info.name)) scores.push_back(score.score);
    if (scores.size() < 2) continue;
    const auto [least, most] = std::minmax_element(scores.begin(), scores.end());
    if (*most - *least <= rounding * std::max(std::abs(*least), std::abs(*most))) {
      likeness.constant.push_back(column.info.name);
      continue;
    }
    const std::vector<double> order = ranks(scores);
    const auto group = std::find(orders.begin(), orders.end(), order);
    if (group != orders.end()) {
      likeness.same_order[static_cast<std::size_t>(group - orders.begin())].push_back(
          column.info.name);
    } else {
      orders.push_back(order);
      likeness.same_order.push_back({column.info.name});
    }
  }
  std::erase_if(likeness.same_order, [](const auto& group) { return group.size() < 2; });
  return likeness;
}

Record record_of(const ImportanceTable& table, const ImportanceCommandOptions& options,
                 const std::string& model) {
  Record heads = Record::array(), metrics = Record::array(), absent = Record::array();
  for (const HeadId& head : table.heads) {
    heads.push_back({{"kind", name_of(head.kind)}, {"layer", head.layer}, {"head", head.head}});
  }
  for (const ImportanceTable::Column& column : table.columns) {
    metrics.push_back(metric_record(column.info));
    metrics.back()["scores"] = column.scores;
    metrics.back().update(details_record(column.details));
  }
  for (const auto& [info, reason] : table.absent) {
    absent.push_back({{"name", info.name}, {"reason", reason}});
  }
  const Likeness likeness = likeness_of(table);
  return {{"model", model},
          {"set", options.set},
          {"examples", table.examples},
          {"forward_passes", table.forward},
          {"backward_passes", table.backward},
          {"heads", heads},
          {"metrics", metrics},
          {"absent", absent},
          {"constant", likeness.constant},
          {"same_order", likeness.same_order}};
}

/// Columns of a head's name.
constexpr Index name_width = 14;

/// Tables of heads by metrics, as many columns next to each other as the terminal has room for.
std::string tables_text(const ImportanceTable& table, const TerminalStyle& style) {
  Table text{.columns = {""}};
  for (const HeadId& head : table.heads) text.rows.push_back({head.text()});
  for (const ImportanceTable::Column& column : table.columns) {
    text.columns.push_back(column.info.name);
    for (std::size_t h = 0; h < text.rows.size(); ++h) {
      text.rows[h].push_back(fmt::format("{:.4g}", column.scores[h]));
    }
  }
  return table_text(text, style);
}

/// The heads by one metric, the least important first.
std::string ranking_text(const ImportanceTable& table, const MetricInfo& info) {
  std::vector<HeadScore> scores = table.importance(info.name);
  const std::vector<HeadId> order = least_important_first(scores);
  double most = 0;
  for (const HeadScore& score : scores) most = std::max(most, std::abs(score.score));
  std::string text = "Heads in order of importance, least important first:\n";
  for (const HeadId& head : order) {
    const auto found = std::find_if(scores.begin(), scores.end(),
                                    [&](const HeadScore& score) { return score.head == head; });
    const double share = most > 0 ? std::abs(found->score) / most : 0;
    text += fmt::format("  {} {:>10.4g}  {}\n", padded(head.text(), name_width),
                        info.keep_low ? -found->score : found->score, bar_text(share, 24));
  }
  return text;
}

/// The heads of each class, a line for each class.
std::string classes_text(const ImportanceTable& table, const TerminalStyle& style) {
  std::string text;
  for (const ImportanceTable::Column& column : table.columns) {
    std::map<std::string, std::vector<std::string>> heads;
    for (std::size_t h = 0; h < column.details.classes.size(); ++h) {
      heads[column.details.classes[h]].push_back(table.heads[h].text());
    }
    for (const auto& [name, names] : heads) {
      text +=
          wrapped(fmt::format("{}, {} heads: {}", column.info.name, name, fmt::join(names, ", ")),
                  style.columns, 2) +
          "\n";
    }
  }
  return text.empty() ? "" : text + "\n";
}

/// `compare`: whether to say which metrics order the heads alike.
std::string legend_text(const ImportanceTable& table, bool compare, const TerminalStyle& style) {
  std::string text;
  const auto line = [&](const std::string& words) {
    text += wrapped(words, style.columns, 2) + "\n";
  };
  for (const auto& [info, scores, details] : table.columns) {
    line(fmt::format("{}: {}; {}; cost {}{}", info.name, info.formula, info.source,
                     info.cost.empty() ? "unknown" : info.cost,
                     info.keep_low ? "; low scores are important" : ""));
  }
  text += "\n";
  line(
      "The cost is given in passes over the examples: F is a forward pass, B a forward and a "
      "backward pass, N the number of heads. Metrics of cost F and B share their passes; to "
      "these, logit_jacobian adds 4 backward passes.");
  for (const auto& [info, reason] : table.absent) {
    line(fmt::format("Absent: {} ({}): {}", info.name, info.formula, reason));
  }
  if (!compare) return text;
  const auto [constant, same_order] = likeness_of(table);
  for (const std::string& name : constant) line(name + " is the same for all heads");
  for (const std::vector<std::string>& group : same_order) {
    line(fmt::format("{} give the same order of heads", fmt::join(group, ", ")));
  }
  return text;
}

/// Shows on standard error which share of the subsets is done: a bar on a terminal, else quarters.
class ProgressOnError {
 public:
  void operator()(const std::string& what, double share) {
    const auto now = Index(share * (live_ ? 100 : 4));
    if (what == what_ && now == shown_) return;
    what_ = what;
    shown_ = now;
    if (live_) {
      print_error("\r{}  {}\x1b[K{}", what, bar_text(share, 30), share < 1 ? "" : "\r\x1b[K");
    } else {
      print_error("{}  {:.0f} %\n", what, 100 * share);
    }
  }

 private:
  bool live_ = TerminalStyle::of(stderr).live;
  std::string what_;
  Index shown_ = 0;
};

Index oracle_examples(const ImportanceCommandOptions& options) {
  return options.oracle_examples.value_or(options.options.examples);
}

int importance_trace(const ImportanceCommandOptions& options) {
  if (!options.model.model.empty() || options.model.has_data() || options.set != "importance") {
    throw UsageError(
        "--trace measures the runs that it names on the sets importance and selection; it cannot "
        "be combined with --model and --set; leave those out");
  }
  std::vector<std::filesystem::path> runs(options.trace.begin(), options.trace.end());
  const TraceOptions what{.metrics = metrics_in(options.metrics, "--metric"),
                          .examples = options.options.examples,
                          .seed = options.seed,
                          .oracle = options.oracle,
                          .oracle_examples = oracle_examples(options)};
  const std::vector<TracePoint> points =
      trace_of(runs, what, [](const std::string& next) { print_error("measuring {}\n", next); });
  if (options.json) {
    fmt::print("{}\n", trace_record(points).dump());
  } else {
    fmt::print("{}", trace_text(points, TerminalStyle::of(stdout)));
  }
  return 0;
}

/// Metrics that take a second or two; with the oracle, whose games take longer anyway, all.
const char* default_metrics(bool oracle) { return oracle ? "all" : "cheap,leave_one_out"; }

int importance(ImportanceCommandOptions options) {
  if (options.metrics.empty()) options.metrics = default_metrics(options.oracle);
  if (options.oracle_examples && !options.oracle) {
    throw UsageError("--oracle-examples is the number of examples of --oracle; add --oracle");
  }
  if (!options.trace.empty()) return importance_trace(options);
  const std::vector<std::string> metrics = metrics_in(options.metrics, "--metric");
  ImportanceOptions measured = options.options;
  measured.set = options.set == "train" ? ExampleSet::train : ExampleSet::importance;
  if (measured.set == ExampleSet::train && is_model_folder(options.model.model)) {
    throw UsageError("--set train needs a run: a model folder has no examples for training here");
  }
  const MeasuredModel model = measured_model(options.model);
  const std::filesystem::path& folder = model.path;
  Learner* const learner = model.learner.get();
  if (!model.is_folder) {
    measured.recorded = recorded_scores(checkpoint_of(folder));
    measured.seed = seed_of_run(folder);
  }
  if (options.seed) measured.seed = *options.seed;
  const TaskCheck check = check_task(*learner);
  ImportanceTable table;
  std::optional<Oracle> oracle;
  if (options.oracle && (check.learned || options.json)) {
    HeadGame choosing(*learner, measured.set, measured.examples);
    table = measure_importance(choosing, metrics, measured);
    HeadGame measuring(*learner, ExampleSet::selection, oracle_examples(options));
    oracle = oracle_of(choosing, measuring, table, measured, ProgressOnError());
  } else {
    table = measure_importance(*learner, metrics, measured);
  }
  if (metrics.size() == 1) table.importance(metrics[0]);  // throws if it is absent
  if (options.json) {
    Record record = record_of(table, options, folder.string());
    record["task_check"] = json_of(check);
    if (oracle) record.update(oracle_record(*oracle));
    fmt::print("{}\n", record.dump());
    return 0;
  }
  const TerminalStyle style = TerminalStyle::of(stdout);
  if (!check.learned) {
    fmt::print(
        "{}\n\n",
        wrapped(check.warning() +
                    fmt::format(". Differences between its heads are noise{}.",
                                options.oracle ? "; --oracle compares them only in --json" : ""),
                style.columns));
  }
  fmt::print(
      "{} of {}: {} heads, {} of the set {}\n"
      "{} forward and {} backward passes\n\n",
      options.metrics == "all"     ? "All metrics"
      : options.metrics == "cheap" ? "All cheap metrics"
                                   : options.metrics,
      shown(folder.string()), table.heads.size(),
      table.examples == 0 ? "no examples"
                          : fmt::format("{} example{}", with_commas(table.examples),
                                        table.examples == 1 ? "" : "s"),
      options.set, table.forward, table.backward);
  fmt::print(
      "{}\n{}",
      metrics.size() == 1 && check.learned ? ranking_text(table, table.columns[0].info)
                                           : tables_text(table, style),
      (check.learned ? classes_text(table, style) : "") + legend_text(table, check.learned, style));
  if (oracle) fmt::print("\n{}", oracle_text(*oracle, style));
  return 0;
}

}  // namespace

Command add_importance(CLI::App& program) {
  CLI::App* app = program.add_subcommand("importance",
                                         "Scores the heads of a trained model by several metrics");
  const auto options = std::make_shared<ImportanceCommandOptions>();
  add_measured(*app, options->model);
  app->add_option(
         "--metric", options->metrics,
         fmt::format("one or more of the metrics below; all; or cheap (those that together take "
                     "one forward and five backward passes over the examples) (default: {}; with "
                     "--oracle {})",
                     default_metrics(false), default_metrics(true)))
      ->type_name("NAME,...");
  app->add_option("--set", options->set,
                  "examples to measure heads on: importance (held out for this) or train")
      ->type_name("NAME")
      ->check(one_of({"importance", "train"}))
      ->capture_default_str();
  app->add_option("--examples", options->options.examples,
                  "maximum number of examples to measure heads on")
      ->check(at_least(1))
      ->capture_default_str();
  app->add_option("--seed", options->seed,
                  "seed of the metrics and choosers that draw random numbers (default: that of the "
                  "run)")
      ->type_name("N");
  app->add_flag("--oracle", options->oracle,
                "also measure the loss of all subsets of at most 12 heads, on the selection set; "
                "print exact Shapley values, the best subsets, and the regret of each metric and "
                "chooser");
  app->add_option("--oracle-examples", options->oracle_examples,
                  "maximum number of examples for --oracle (default: as --examples)")
      ->type_name("N")
      ->check(at_least(1));
  app->add_option("--trace", options->trace,
                  "measure the snapshots of these runs (of train --snapshots): compare the metrics "
                  "with the cost of removing each head and with each other, with --oracle also "
                  "with all subsets")
      ->type_name("RUN");
  app->add_flag("--json", options->json, "print one line of JSON");
  add_threads(*app);
  app->footer(
      fmt::format("{1}\n\n"
                  "Examples: {0} importance --metric sensitivity\n"
                  "          {0} importance --metric cheap --examples 200\n"
                  "          {0} importance --model runs/reverse-1 --json",
                  invocation(), metrics_by_kind()));
  return {app, [options] { return importance(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
