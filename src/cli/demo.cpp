// `headroom demo`: the main job, told on the terminal and written as a page.
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <memory>

#include "cli/command.hpp"
#include "cli/environment.hpp"
#include "cli/options.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/heads/layout_comparison.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/report/report.hpp"
#include "headroom/report/terminal.hpp"
#include "headroom/train/checkpoint.hpp"
#include "headroom/train/metrics_log.hpp"
#include "headroom/train/run_folder.hpp"
#include "headroom/train/stop_signals.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct DemoOptions {
  std::string out;
  Index seed = 1, telemetry = LayoutComparisonOptions{}.telemetry;
  bool force = false;
};

/// Tells the story: each part's line or picture, and a live line while models learn.
class Story {
 public:
  Story() : out_(TerminalStyle::of(stdout)), err_(TerminalStyle::of(stderr)) {}

  void begin() const {
    fmt::print(
        "\n  Two transformers read \"3rd of May, 2021\" and write 2021-05-03.\n"
        "  One has a Linear for every head, the other one Linear for all heads. Same weights, so: "
        "same function?\n\n");
  }

  void same_function(const Record& same) const {
    const double forward = same["forward"], gradient = same["parameter_gradient"];
    const double input = same["input_gradient"], tolerance = same["tolerance"];
    const bool kept = std::max({forward, gradient, input}) <= tolerance;
    headline(
        1, "Same function",
        fmt::format("outputs {}, gradients differ by {:.1e}   {}",
                    forward == 0 ? "equal to the bit" : fmt::format("differ by {:.1e}", forward),
                    std::max(gradient, input),
                    kept ? "float rounding, nothing else"
                         : fmt::format("more than the {:.0e} that rounding explains", tolerance)));
  }

  /// The live line of a training part; without a terminal a line per evaluation.
  void progress(int number, const char* title, const LayoutComparison::Progress& p) {
    seconds_ += p.seconds;
    tokens_ += p.tokens;
    const double left =
        seconds_ / static_cast<double>(p.step) * static_cast<double>(p.steps - p.step);
    const std::string text =
        fmt::format("step {:>4}/{}  loss {:.3f}  exact {:.1f} %  {}  {:.0f}k tok/s", p.step,
                    p.steps, p.loss, 100 * std::min(p.exact_separate, p.exact_fused),
                    number == 4 ? fmt::format("{} heads", p.heads_alive) : "",
                    static_cast<double>(tokens_) / seconds_ / 1000);
    if (err_.live) {
      fmt::print(
          stderr, "\r\x1b[K  {}  {} {} {}", number, padded(title, 16), text,
          fmt::format("{} {} left",
                      bar_text(static_cast<double>(p.step) / static_cast<double>(p.steps), 12),
                      clock_text(left)));
      if (p.step == p.steps) fmt::print(stderr, "\r\x1b[K");
    } else if (p.measured && p.step < p.steps) {
      fmt::print(stderr, "     {}\n", text);
    }
    if (p.step == p.steps) {
      headline(number, title, text);
      seconds_ = 0;
      tokens_ = 0;
    }
  }

  void parted(const Record& records) const {
    const Record& parted = records["parted_at"];
    const Record& exact = records["before_after"][0]["exact_match"];
    const Record& last = records["differences"].back();
    fmt::print("{:22}unseen dates: separate {:.1f} %   fused {:.1f} %\n", "",
               100 * exact["separate"].get<double>(), 100 * exact["fused"].get<double>());
    if (parted["step"].is_null()) {
      fmt::print("{:22}paths did not part: weights differ by at most {:.1e} of the largest\n", "",
                 last["parameter"].get<double>());
    } else {
      fmt::print(
          "{:22}rounding parted their paths at step {} (weights {:.0e} of the largest apart)\n", "",
          parted["step"].get<Index>(), parted["threshold"].get<double>());
    }
  }

  void looking(const LayoutComparison& job) const {
    const Record reader = job.year_reader();
    const double share = reader["share"];
    headline(
        3, "Looking",
        share >= 0.5
            ? fmt::format("decoder layer {}, cross-attention, head {} reads the year ({:.0f} % of "
                          "its weight)",
                          reader["layer"].get<Index>(), reader["head"].get<Index>(), 100 * share)
            : fmt::format("no cross-attention head reads the year alone (at most {:.0f} % of its "
                          "weight)",
                          100 * share));
    const Record& example = job.records()["examples"][0];
    for (const Record& map : example["maps"]) {
      if (map["kind"] != "cross" || map["layer"] != reader["layer"] ||
          map["head"] != reader["head"]) {
        continue;
      }
      const std::vector<std::string> keys = example["source"], queries = example["target"];
      const std::vector<std::vector<double>> rows = map["rows"];
      fmt::print("\n{}\n", attention_map_text(keys, queries, rows, out_, 22));
    }
  }

  void removed(const Record& records) const {
    std::map<std::string, std::vector<std::vector<bool>>> alive;
    for (const Record& head : records["heads"]) {
      auto& layers = alive[head["kind"]];
      if (layers.size() <= head["layer"].get<std::size_t>()) layers.emplace_back();
      layers.back().push_back(head["removed_at"].is_null());
    }
    fmt::print("{:22}", "");
    for (const char* kind : {"encoder", "cross", "decoder"}) {
      fmt::print("{} {}   ", kind, head_grid_text(alive[kind], out_));
    }
    fmt::print("\n\n");
  }

  void before_after(const Record& records) const {
    std::vector<std::vector<std::string>> rows;
    for (const Record& row : records["before_after"]) {
      const double separate = row["exact_match"]["separate"], fused = row["exact_match"]["fused"];
      rows.push_back({row["label"], fmt::format("{:.1f} %", 100 * separate),
                      fmt::format("{:.1f} %", 100 * fused),
                      fmt::format("{:.1f} ms", row["step_ms"].get<double>()),
                      fmt::format("{:.1f} ms", row["attention_ms"].get<double>()),
                      with_commas(row["parameters"]), bytes_text(row["memory_bytes"])});
    }
    fmt::print("{}\n",
               table_text({"", "separate", "fused", "step", "attention", "parameters", "memory"},
                          rows, out_, 5));
  }

  void end(const std::filesystem::path& page, double seconds) const {
    fmt::print("  Pictures and the whole story: {}   ({:.0f} s)\n", page.string(), seconds);
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

/// Appends to metrics.jsonl what was recorded since the last time, so that a run that is stopped
/// keeps its measurements.
class NewLines {
 public:
  explicit NewLines(const std::filesystem::path& file) : log_(file) {}

  void write(const Record& records) {
    for (const char* key : {"metrics", "telemetry"}) {
      const auto lines = records.find(key);
      if (lines == records.end()) continue;
      for (std::size_t& next = written_[key]; next < lines->size(); ++next) {
        log_.write((*lines)[next]);
      }
    }
  }

 private:
  MetricsLog log_;
  std::map<std::string, std::size_t> written_;
};

int demo(const DemoOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  RunFolder folder = options.out.empty() ? RunFolder::fresh("runs", "demo")
                                         : RunFolder(options.out, options.force ? IfExists::force
                                                                                : IfExists::refuse);
  if (find_chart_js().empty()) {
    throw FileError(
        "Chart.js is not on this machine, and the report needs it (apt-get install "
        "libjs-chart.js)");
  }
  LayoutComparisonOptions setup;
  setup.seed = static_cast<std::uint64_t>(options.seed);
  setup.telemetry = options.telemetry;
  LayoutComparison job(setup);
  folder.write_config(job.records()["config"]);
  const StopSignals signals;
  Story story;
  story.begin();
  const Record same = job.same_function();
  story.same_function(same);

  Checkpoint checkpoint, twin;
  checkpoint.about = twin.about = task_record(job.task());
  checkpoint.add("model", job.fused());
  twin.add("model", job.separate());
  const auto save = [&] {
    checkpoint.save(folder.checkpoint());
    twin.save(folder.path() / "separate.safetensors");
  };
  const auto stopped = [&] {
    save();
    fmt::print(stderr, "\nstopped; models and measurements so far are in {}\n",
               folder.path().string());
    return signals.exit_code();
  };
  NewLines log(folder.metrics());
  const auto train = [&](int number, const char* title) {
    return [&, number, title](const LayoutComparison::Progress& p) {
      log.write(job.records());
      story.progress(number, title, p);
      return !signals.requested();
    };
  };
  if (!job.learn(train(2, "Learning"))) return stopped();
  story.parted(job.records());
  job.look();
  story.looking(job);
  if (!job.remove_heads(train(4, "Removing heads"))) return stopped();
  story.removed(job.records());
  job.measure_cost();
  story.before_after(job.records());
  save();

  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  Record page = job.records();
  page["command"] = fmt::format("headroom demo --seed {}", options.seed);
  page["environment"] = environment();
  page["environment"]["seconds"] = std::round(seconds.count());
  write_file(folder.path() / "records.json", page.dump() + "\n");
  write_file(folder.summary(), job.summary().dump(2) + "\n");
  write_report(run_record(page, "records"), folder.report());
  story.end(folder.report(), seconds.count());
  return 0;
}

}  // namespace

Command add_demo(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("demo", "the main job: two layouts, one function, half the heads");
  const auto options = std::make_shared<DemoOptions>();
  app->add_option("--out", options->out, "DIR for the run (default: a new one under runs/)");
  app->add_option("--seed", options->seed, "of everything random")
      ->check(at_least(0))
      ->capture_default_str();
  app->add_option("--telemetry", options->telemetry,
                  "steps from one measurement of every head to the next, 0: none")
      ->check(at_least(0))
      ->capture_default_str();
  app->add_flag("--force", options->force, "replace the run in DIR");
  add_threads(*app);
  return {app, [options] { return demo(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
