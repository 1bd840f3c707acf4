// `headroom demo`: its text on the terminal and its page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>

#include "cli/commands/demo_page.hpp"
#include "cli/demo/demo_runs.hpp"
#include "cli/environment.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/common_options.hpp"
#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"
#include "headroom/statistics/intervals.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom/train/checkpoint.hpp"
#include "headroom/train/stop_signals.hpp"
#include "headroom_lab/blocks/table.hpp"
#include "headroom_lab/report/report.hpp"
#include "headroom_lab/report/terminal.hpp"
#include "headroom_runs/runs/metrics_log.hpp"
#include "headroom_runs/runs/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct DemoOptions {
  std::string out;
  Index seed = 1, telemetry = DemoSetup{}.telemetry;
  bool force = false;
  DemoPageOptions page;
  bool arm = false;  // run one arm, whose order is on standard input (see run_cut_in_child)
};

/// The terminal's output: a line or picture for each part, and a live line while models learn.
class DemoText {
 public:
  DemoText() : out_(TerminalStyle::of(stdout)), err_(TerminalStyle::of(stderr)) {}

  void begin() const {
    fmt::print(
        "\n  Two transformers translate \"3rd of May, 2021\" into 2021-05-03.\n"
        "  The first has one Linear per head, the second one Linear for all heads.\n"
        "  They have the same weights. Do they compute the same function?\n"
        "  And which of their 24 heads can be removed?\n\n");
  }

  void same_function(const StartDifference& same) const {
    const double forward = same.forward, tolerance = same.tolerance.value();
    const double gradient = std::max(same.parameter_gradient.value(), same.input_gradient.value());
    const bool kept = std::max(forward, gradient) <= tolerance;
    headline(
        1, "Same function",
        fmt::format("outputs {}, gradients differ by {:.1e}   {}",
                    forward == 0 ? "equal to the bit" : fmt::format("differ by {:.1e}", forward),
                    gradient,
                    kept ? "only float rounding"
                         : fmt::format("more than rounding explains ({:.0e})", tolerance)));
  }

  /// The live line of a training part; without a terminal a line per evaluation.
  void progress(int number, const char* title, const DemoRuns::Progress& p) {
    seconds_ += p.seconds;
    tokens_ += p.tokens;
    const double left = seconds_ / double(p.step) * double(p.steps - p.step);
    const std::string text = fmt::format(
        "step {:>4}/{}  loss {:.3f}  exact {:.1f} %  {}  {:.0f}k tok/s", p.step, p.steps, p.loss,
        100 * p.exact, number >= 5 ? fmt::format("{} heads", p.heads_alive) : "",
        double(tokens_) / seconds_ / 1000);
    if (err_.live) {
      print_error("\r\x1b[K  {}  {} {} {}", number, padded(title, 16), text,
                  fmt::format("{} {} left", bar_text(double(p.step) / double(p.steps), 12),
                              clock_text(left)));
      if (p.step == p.steps) print_error("\r\x1b[K");
    } else if (p.measured && p.step < p.steps) {
      print_error("     {}\n", text);
    }
    if (p.step == p.steps) {
      headline(number, title, text);
      seconds_ = 0;
      tokens_ = 0;
    }
  }

  void parted(const ReportRecord& run) const {
    const PerModel& exact = run.before_after[0].exact_match;
    fmt::print("{:22}unseen dates: separate {:.1f} %   fused {:.1f} %\n", "",
               100 * exact.of("separate").value(), 100 * exact.of("fused").value());
    if (!run.parted_at->step) {
      fmt::print(
          "{:22}the models did not diverge: weights differ by at most {:.1e} of the maximum\n", "",
          run.differences.back().parameter.value());
    } else {
      fmt::print(
          "{:22}rounding made them diverge at step {} (weights differ by {:.0e} of the maximum)\n",
          "", *run.parted_at->step, run.parted_at->threshold);
    }
  }

  void attention(const DemoRuns& runs) const {
    const auto [map, share] = runs.year_reader();
    headline(
        3, "Attention",
        share >= 0.5
            ? fmt::format(
                  "decoder layer {}, cross-attention, head {} attends to the year ({:.0f} % of "
                  "its weights)",
                  map.id.layer, map.id.head, 100 * share)
            : fmt::format("no cross-attention head attends mostly to the year (at most {:.0f} % of "
                          "its weights)",
                          100 * share));
    const ExampleRecord& example = runs.record().examples[0];
    if (map.rows.empty()) return;
    fmt::print("\n{}\n", attention_map_text(example.source, example.target, map.rows, out_, 22));
  }

  /// The correlations of the metrics with the costs, and how sensitivities fell.
  void importance(const ReportRecord& run) const {
    std::vector<std::string> parts;
    for (const CriterionRecord& criterion : run.criteria) {
      std::vector<double> cost;
      for (const HeadRecord& head : run.heads) cost.push_back(head.cost.value());
      parts.push_back(
          fmt::format("{} {:.2f}", criterion.name, rank_correlation(criterion.importance, cost)));
    }
    headline(4, "Which heads",
             fmt::format("rank correlation with the cost of removal: {}", fmt::join(parts, ", ")));
    const ImportanceSums &first = run.importance_sums.front(), &last = run.importance_sums.back();
    fmt::print(
        "{:22}since step {}, the sum of sensitivities went from {:.2g} to {:.2g},\n"
        "{:22}the sum of the costs of removal from {:.2g} to {:.2g}\n",
        "", first.step, first.sensitivity, last.sensitivity, "", first.cost, last.cost);
  }

  /// The live line while arms are trained; without a terminal nothing.
  void arms_progress(Index done, Index all) const {
    if (!err_.live) return;
    print_error("\r\x1b[K  6  {} {} of {} trained {}", padded("Other choices", 16), done, all,
                bar_text(double(done) / double(all), 12));
    if (done == all) print_error("\r\x1b[K");
  }

  /// The table of arms.
  void arms(const ReportRecord& run) const {
    const ArmsRecord& all = run.arms.value();
    headline(6, "Other choices",
             fmt::format("the fused model of step {}, heads removed in one step",
                         run.importance_sums.back().step));
    Table table{
        .columns = {"exact match", "after removal", fmt::format("{} steps later", all.recovery)}};
    const auto text = [](const std::vector<double>& shares) {
      const std::string mean = fmt::format("{:.1f} %", 100 * mean_of(shares));
      if (shares.size() == 1) return mean;
      const auto [low, high] = std::minmax_element(shares.begin(), shares.end());
      return fmt::format("({:.1f} to {:.1f})  {}", 100 * *low, 100 * *high, mean);
    };
    for (const ArmRecord& arm : all.arms) {
      const std::string draws =
          arm.cut.size() > 1 ? fmt::format(" (mean of {} draws)", arm.cut.size()) : "";
      table.rows.push_back({arm.removed == 0
                                ? "all heads"
                                : fmt::format("{} removed: {}{}", arm.removed, arm.choice, draws),
                            text(arm.cut), text(arm.recovered)});
    }
    fmt::print("\n{}", table_text(table, out_, 5));
  }

  void removed(const ReportRecord& run) const {
    std::map<AttentionKind, std::vector<std::vector<bool>>> alive;
    for (const HeadRecord& head : run.heads) {
      auto& layers = alive[head.id.kind];
      if (layers.size() <= static_cast<std::size_t>(head.id.layer)) layers.emplace_back();
      layers.back().push_back(!head.removed_at.has_value());
    }
    fmt::print("{:22}", "");
    for (const AttentionKind kind :
         {AttentionKind::encoder_self, AttentionKind::cross, AttentionKind::decoder_self}) {
      fmt::print("{} {}   ", name_of(kind), head_grid_text(alive[kind], out_));
    }
    fmt::print("\n\n");
  }

  /// The table of all rows, and a comparison of the pruned model with the one trained for as many
  /// steps.
  void before_after(const ReportRecord& run) const {
    Table table{.columns = {"", "separate", "fused", "step", "attention", "parameters", "memory"}};
    const ComparisonRow& first = run.before_after.front();
    // A speed-up over the first row that its arithmetic does not allow is marked.
    const auto ms_text = [](const PerModel& ms, const PerModel& first_ms, double flops,
                            double first_flops) {
      const double time = ms.mean().value();
      const bool noisy = beyond_arithmetic(first_ms.mean().value() / time, first_flops / flops);
      return fmt::format("{:.1f} ms{}", time, noisy ? " (noisy)" : "");
    };
    for (const ComparisonRow& row : run.before_after) {
      const auto share = [&row](const char* model) {
        const auto exact = row.exact_match.of(model);
        return exact ? fmt::format("{:.1f} %", 100 * *exact) : std::string("-");
      };
      table.rows.push_back({row.label, share("separate"), share("fused"),
                            ms_text(row.step_ms, first.step_ms, *row.step_flops, *first.step_flops),
                            ms_text(row.attention_ms, first.attention_ms, *row.attention_flops,
                                    *first.attention_flops),
                            with_commas(Index(row.parameters.mean().value())),
                            bytes_text(row.memory_bytes.mean().value())});
    }
    fmt::print("\n{}\n", table_text(table, out_, 5));
    const ComparisonRow &whole = run.before_after[1], &pruned = run.before_after.back();
    const double with = whole.exact_match.of("fused").value(),
                 without = pruned.exact_match.of("fused").value();
    const double by_chance =
        difference_by_chance(with, without, run.arms ? run.arms->test_examples : 0);
    fmt::print(
        "     Fused model, half of its heads removed: {} after equally long training.\n\n",
        std::abs(without - with) <= by_chance
            ? "no clear difference in exact match from all heads"
            : fmt::format("{:.1f} points {} than with all heads (exact match)",
                          100 * std::abs(without - with), without < with ? "worse" : "better"));
  }

  void end(const std::filesystem::path& page, double seconds) const {
    fmt::print("  The report: {}   ({:.0f} s)\n", shown(page.string()), seconds);
    fmt::print(
        "  Next: {0} attend --input \"May 3rd, 2021\"      {0} lab list      {0} train --help\n",
        invocation());
  }

 private:
  void headline(int number, const char* title, const std::string& text) const {
    fmt::print("  {}  {} {}\n", number, emphasised(padded(title, 16), Emphasis::strong, out_),
               text);
    std::fflush(stdout);
  }

  TerminalStyle out_, err_;
  double seconds_ = 0;
  Index tokens_ = 0;
};

/// Appends the new lines of the records to metrics.jsonl, so that a stopped run keeps its
/// measurements.
class NewLines {
 public:
  explicit NewLines(const std::filesystem::path& file) : log_(file) {}

  void write(const ReportRecord& run) {
    for (; metrics_ < run.metrics.size(); ++metrics_) log_.write(json_of(run.metrics[metrics_]));
    for (; telemetry_ < run.telemetry.size(); ++telemetry_) {
      log_.write(json_of(run.telemetry[telemetry_]));
    }
    for (; lives_ < run.lives.size(); ++lives_) log_.write(json_of(run.lives[lives_]));
  }

 private:
  MetricsLog log_;
  std::size_t metrics_ = 0, telemetry_ = 0, lives_ = 0;  // lines that were written
};

/// Standard input as one text.
std::string standard_input() {
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

int demo_arm() {
  const auto cut = struct_of<DemoCut>(parse_json(standard_input(), "--arm"), "--arm");
  const auto run = demo_run(cut.setup, demo_task(cut.setup), Layout::fused);
  fmt::print("{}\n", json_of(run_cut(*run, cut)).dump());
  return 0;
}

int demo(const DemoOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  if (options.arm) return demo_arm();
  if (options.page.wanted) {
    return demo_page(options.page, options.out, options.seed, options.force);
  }
  if (!options.page.name.empty()) throw UsageError("--name needs --page");
  const std::pair<RunFolder, FileLock> locked = new_run(options.out, "demo", options.force);
  const RunFolder& folder = locked.first;
  if (find_chart_js().empty()) {
    throw FileError(
        "Chart.js is not installed; the report needs it (apt-get install libjs-chart.js)");
  }
  DemoSetup setup;
  setup.seed = static_cast<std::uint64_t>(options.seed);
  setup.telemetry = options.telemetry;
  DemoRuns runs(setup, folder.path());
  folder.write_config(runs.record().config);
  const StopSignals signals;
  DemoText text;
  text.begin();
  text.same_function(runs.same_function());

  Checkpoint checkpoint, twin;
  checkpoint.about = twin.about = task_record(runs.task());
  checkpoint.add("model", runs.fused());
  twin.add("model", runs.separate());
  const auto save = [&] {
    checkpoint.save(folder.checkpoint());
    twin.save(folder.path() / "separate.safetensors");
  };
  const auto stopped = [&] {
    save();
    print_error("\nstopped; the models and the measurements up to here are in {}\n",
                shown(folder.path().string(), stderr));
    return signals.exit_code();
  };
  NewLines log(folder.metrics());
  const auto progress = [&](int number, const char* title) {
    return [&, number, title](const DemoRuns::Progress& p) {
      log.write(runs.record());
      text.progress(number, title, p);
      return !signals.requested();
    };
  };
  if (!runs.learn(progress(2, "Learning"))) return stopped();
  text.parted(runs.record());
  runs.record_maps();
  text.attention(runs);
  runs.choose_heads();
  text.importance(runs.record());
  if (!runs.remove_heads(progress(5, "Removing heads"))) return stopped();
  text.removed(runs.record());
  runs.measure_cost();
  const CutRunner in_child = [&](const DemoCut& cut) {
    return signals.requested() ? std::nullopt : run_cut_in_child(cut);
  };
  text.arms_progress(0, 1);
  if (!runs.train_arms(in_child, 2,
                       [&](Index done, Index all) { text.arms_progress(done, all); })) {
    return stopped();
  }
  text.arms(runs.record());
  text.before_after(runs.record());
  save();

  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  ReportRecord page = runs.record();
  page.command = fmt::format("headroom demo --seed {}", options.seed);
  page.environment = environment();
  page.environment["seconds"] = std::round(seconds.count());
  write_file(folder.path() / "records.json", json_of(page).dump() + "\n");
  write_file(folder.summary(), json_of(runs.summary()).dump(2) + "\n");
  write_report(page, folder.report());
  set_result({{"folder", folder.path().string()}, {"summary", json_of(runs.summary())}});
  text.end(folder.report(), seconds.count());
  return 0;
}

}  // namespace

Command add_demo(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("demo", "Trains a model in two layouts and removes half of its heads");
  const auto options = std::make_shared<DemoOptions>();
  add_out(*app, options->out, "folder of the run");
  app->add_option("--seed", options->seed, "seed of all random numbers")
      ->check(at_least(0, any_seed))
      ->capture_default_str();
  app->add_option("--telemetry", options->telemetry,
                  "steps between measurements of every head; 0 turns them off")
      ->check(at_least(0))
      ->capture_default_str();
  app->add_flag("--force", options->force, "replace the run in --out, and the file of --page");
  add_demo_page(*app, options->page);
  app->add_flag("--arm", options->arm)->group("");  // not in the help
  add_threads(*app);
  app->footer(
      fmt::format("Examples: {0} demo --seed 2\n"
                  "          {0} demo --page my-transformer.html --name \"Ada\"",
                  invocation()));
  return {app, [options] { return demo(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
