// Runs of `headroom train` of a few steps: their settings, and the files of one that was stopped in
// the middle.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/frame/program.hpp"
#include "fuzz/other_checkpoint.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom_runs/runs/run_folder.hpp"
#include "headroom_runs/runs/setting.hpp"

/// Steps of the small runs, and the step after which they were stopped.
inline constexpr headroom::Index small_steps = 4, stopped_at = 2;

/// Settings of small runs with all kinds of parts: none; removals with compensation and swaps;
/// learned gates; running scores and DropHead.
inline std::vector<headroom::RunSettings> small_settings() {
  using namespace headroom;
  TrainingSettings plain;
  plain.task = "reverse";
  plain.data.train = 24;
  plain.data.validation = 8;
  plain.data.test = 4;
  plain.model.block.width = 8;
  plain.model.block.heads = 2;
  plain.model.block.hidden = 8;
  plain.model.layers = 1;
  plain.learner.batch_size = 4;
  plain.rate = {.shape = RateShape::cosine, .peak = 1e-3, .warmup = 1};
  plain.steps = small_steps;
  plain.evaluate_every = plain.save_every = 2;
  plain.telemetry = 1;
  plain.snapshots = {stopped_at};
  plain.derive();

  RunSettings whole{.training = plain, .pruning = {}, .branch = {}};
  whole.branch.page = false;
  RunSettings swapped = whole;
  swapped.training.optimizer.kind = OptimizerKind::lamb;
  swapped.training.model.block.layout = Layout::separate;
  swapped.pruning.remove = 2;
  swapped.pruning.pace = Iterative{.from = 1, .rounds = 2, .recover = 2};
  swapped.pruning.rescoring = Rescoring::each_event;
  swapped.pruning.compensation = Compensation::mean;
  swapped.pruning.regrowth = Regrowth{.every = 1, .share = 0.5, .until = 4};
  swapped.branch.measure_cut = true;
  RunSettings gated = whole;
  gated.training.task = "brackets";
  gated.training.optimizer.kind = OptimizerKind::muon;
  gated.pruning.gates = GateOptions{.method = "hard_concrete", .keep = 1, .begin = 1, .end = 3};
  gated.branch.page = true;
  RunSettings dropped = whole;
  dropped.training.optimizer.kind = OptimizerKind::sgd;
  dropped.training.model.block.layout = Layout::shared;
  dropped.pruning.remove = 1;
  dropped.pruning.pace = OneShot{.at = 1};
  dropped.pruning.drop_head = 0.1;
  std::vector<RunSettings> all{whole, swapped, gated, dropped};
  for (RunSettings& settings : all) {
    TrainingSettings& run = settings.training;
    run.model = fitted_to(run.make_task(), run.model, run.learner);
    fit_to_model(settings, {}, quoted_name);
  }
  return all;
}

/// The exit code of `headroom train --resume` in a folder.
inline int resumed(const std::filesystem::path& folder, bool accept_changes) {
  std::vector<std::string> words{"headroom", "train", "--out", folder.string(), "--resume"};
  if (accept_changes) words.emplace_back("--accept-changes");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return headroom::run_program(int(words.size()), arguments.data());
}

/// The files of a run that was stopped after step `stopped_at`.
struct BegunRun {
  headroom::Record config;
  headroom::TensorFile checkpoint, best;
  std::string log;

  /// Trains the run in a folder, which then has all of its files.
  BegunRun(const headroom::RunSettings& settings, const std::filesystem::path& folder)
      : config(settings.to_record()) {
    using headroom::TensorFile;
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    headroom::write_file(folder / "config.json", config.dump());
    must(resumed(folder, false) == 0);
    const headroom::RunFolder files(folder, headroom::IfExists::resume);
    config = files.read_config();
    checkpoint = TensorFile::read(files.snapshot(stopped_at));
    if (std::filesystem::exists(files.best())) best = TensorFile::read(files.best());
    log = headroom::read_file(files.metrics());
  }
};
