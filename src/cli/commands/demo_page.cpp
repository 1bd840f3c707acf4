// `headroom demo --page`: a small model that reads dates, as a page to send to others.
#include "cli/commands/demo_page.hpp"

#include <dlfcn.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/environment.hpp"
#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/text.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom_lab/report/attend.hpp"
#include "headroom_runs/records/attention_record.hpp"
#include "headroom_runs/runs/progress.hpp"
#include "headroom_runs/runs/run_settings.hpp"
#include "headroom_runs/runs/training_run.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_name = 60;

/// The learner's functions that this process has called: the library of the learner's functions
/// says so (chapters/common/own.cpp). Without it there are none.
std::vector<std::string> called_functions() {
  std::vector<std::string> called;
  void* const found = dlsym(RTLD_DEFAULT, "headroom_called_functions");
  if (found == nullptr) return called;
  const std::string list = reinterpret_cast<const char* (*)()>(found)();
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(", ", begin), list.size());
    called.push_back(list.substr(begin, end - begin));
    begin = end + 2;
  }
  return called;
}

/// One layer of each stack and 12 heads: a model that learns all dates in a few seconds, or in a
/// minute or two on plain loops.
RunSettings settings_of(Index seed, Index steps) {
  RunSettings settings;
  TrainingSettings& training = settings.training;
  training.model.block = {.width = 32, .heads = 4, .hidden = 128};
  training.model.layers = 1;
  training.data.seed = static_cast<std::uint64_t>(seed);
  training.learner.batch_size = 64;
  training.rate = {
      .shape = RateShape::cosine, .peak = 0.005, .warmup = std::min<Index>(50, steps / 10)};
  training.steps = steps;
  training.evaluate_every = training.save_every = 500;
  training.telemetry = 0;
  training.derive();
  return settings;
}

/// The file, which must be free unless `force`, in a folder that exists.
fs::path checked(const fs::path& file, bool force) {
  std::error_code unknown;
  if (fs::is_directory(file, unknown)) {
    throw FileError(fmt::format("{}: is a folder; give --page the name of a file", file.string()));
  }
  if (!force && fs::exists(file, unknown)) {
    throw FileError(fmt::format(
        "{}: exists; give --page another name, or add --force to replace it", file.string()));
  }
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (!fs::is_directory(folder, unknown)) {
    throw FileError(fmt::format("{}: there is no folder {}", file.string(), folder.string()));
  }
  return file;
}

std::string checked_name(const std::string& name) {
  require(printable(name, longest_name) == name,
          fmt::format("--name must be text of at most {} bytes on one line", longest_name));
  return name;
}

}  // namespace

void add_demo_page(CLI::App& app, DemoPageOptions& options) {
  app.add_option_function<std::string>(
         "--page",
         [&options](const std::string& file) {
           options.wanted = true;
           options.file = file;
         },
         "train a smaller model instead, and write a page with it that reads dates in the "
         "browser, to send to others (default: report.html in the run's folder)")
      ->expected(0, 1)
      ->default_str("")
      ->type_name("[FILE]");
  app.add_option("--steps", options.steps, "with --page: training steps")
      ->check(at_least(1))
      ->capture_default_str();
  app.add_option("--name", options.name, "with --page: who made the model")->type_name("TEXT");
}

int demo_page(const DemoPageOptions& options, const std::string& out, Index seed, bool force) {
  MakerRecord maker{.name = checked_name(options.name)};
  if (!options.file.empty()) checked(options.file, force);
  RunSettings settings = settings_of(seed, options.steps);
  TrainingSettings& training = settings.training;
  Task task = training.make_task();
  training.model = fitted_to(task, training.model, training.learner);
  auto [folder, lock] = new_run(out, "page", force);
  const fs::path file = options.file.empty() ? folder.report() : fs::path(options.file);
  folder.write_config(settings.to_record());

  TrainingRun run(training, std::move(task));
  ProgressLine progress({.steps = training.steps, .title = "Learning"});
  run.each(std::ref(progress));
  run.keep_in(std::move(folder));
  const StopSignals signals;
  const bool finished = run.run(&signals);
  progress.finish();
  if (!finished) {
    fmt::print(
        "stopped at step {}; there is no page yet. Continue with: {} train --out {} --resume\n",
        run.steps(), invocation(), shown(run.folder().path().string()));
    return signals.exit_code();
  }
  const double exact = run.conclude()["test"]["exact_match"].get<double>();

  const SavedModel saved = load_model(checkpoint_of(run.folder().path()));
  AttentionRecord record = attention_record(saved, {.input = "May 3rd, 2021"});
  record.page_model = page_model_record(saved, record.ids);
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  maker.functions = called_functions();
  maker.made = fmt::format(
      "Made on {:%Y-%m-%d} in {} training steps from {} random weights (seed {}). Of dates that it "
      "had never seen, {:.1f} % were right.{}",
      fmt::localtime(now), with_commas(run.steps()), with_commas(record.model.parameters), seed,
      100 * exact, maker.functions.empty() ? " All functions are those of headroom." : "");
  write_file(file, dates_page(record, maker));
  fmt::print("  {:.1f} % of dates that it has never seen are right.\n", 100 * exact);
  fmt::print("  The page to send: {}\n", shown(file.string()));
  return 0;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
