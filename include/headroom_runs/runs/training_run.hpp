// TrainingRun: a whole training run, from its settings to its summary, with everything that it
// needs to be stopped and resumed.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headroom/train/best_so_far.hpp"
#include "headroom/train/checkpoint.hpp"
#include "headroom/train/learner.hpp"
#include "headroom/train/trainer.hpp"
#include "headroom/train/training_loop.hpp"
#include "headroom_runs/runs/manifest.hpp"
#include "headroom_runs/runs/metrics_log.hpp"
#include "headroom_runs/runs/run_folder.hpp"
#include "headroom_runs/runs/run_settings.hpp"
#include "headroom_runs/runs/telemetry.hpp"
#include "headroom_runs/runs/training_settings.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Trains a learner's model as its settings say. Parts (Pruner, gates) and observers (a progress
/// line) are added first; then a folder, which is also where the run resumes; then it runs. It
/// prints nothing.
/// ```
/// settings.derive();
/// TrainingRun run(settings, make_task(settings.task, settings.data));
/// Pruner pruner(run.learner(), run.optimizer(), {...});
/// run.add("pruning", pruner);
/// run.each(std::ref(progress));
/// run.keep_in(RunFolder("runs/mine", IfExists::resume_or_start));
/// if (run.run(&signals)) run.conclude();
/// ```
/// With telemetry in the settings, a HeadTelemetry is its first part.
class TrainingRun {
 public:
  /// Steps between the lines of metrics.jsonl that evaluations do not cause.
  static constexpr Index log_every = 10;

  /// Without an optimizer: the one of the settings.
  explicit TrainingRun(TrainingSettings settings, std::unique_ptr<Learner> learner,
                       std::unique_ptr<Optimizer> optimizer = nullptr);
  /// Model and learner made from the settings. Throws UsageError for settings without derive().
  TrainingRun(TrainingSettings settings, Task task);
  TrainingRun(const TrainingRun&) = delete;
  TrainingRun& operator=(const TrainingRun&) = delete;

  /// Adds a part of every step; it must outlive the run. A part that is also Stateful is saved in
  /// the checkpoint under `name`. Throws UsageError once the run has a folder or has loaded a
  /// checkpoint, since the part's state would be lost.
  void add(const std::string& name, StepPart& part);

  /// Replaces the learning rate of the settings by a function; see RateSchedule. config.json cannot
  /// keep a function, but it has the text, as "rate_function". Whoever resumes the run must give
  /// the function again: step() throws UsageError without it, keep_in() FileError if the text is
  /// another one. Throws UsageError once the run has a folder or has loaded a checkpoint.
  void set_rate(std::function<double(Index step)> rate, std::string text);
  /// After `from` steps the learning rate follows another schedule than that of the settings. See
  /// Trainer::add_phase().
  void add_phase(Index from, const RateOptions& rate) { trainer_.add_phase(from, rate); }

  /// After every step, or after steps n, 2n, 3n, ... and the last one: after the evaluation of the
  /// step, before it is logged and saved.
  void each(Observer observer) { every(1, std::move(observer)); }
  void every(Index n, Observer observer);

  /// Logs and saves in this folder from now on: config.json, metrics.jsonl, a line per evaluation,
  /// telemetry and log_every steps; checkpoint.safetensors; best.safetensors, the model that was
  /// the best in an evaluation; snapshots/step-*.safetensors. Resumes from the checkpoint when the
  /// folder says so, after check_resumable() (manifest.hpp), whose warnings it returns. Throws
  /// FileError, also if the folder's config.json has other settings than this run.
  std::vector<std::string> keep_in(RunFolder folder, Changes changes = Changes::refuse);
  /// Goes on where the run that was saved there stopped. The file may hold more parts than this
  /// run has: those are ignored. Throws FileError.
  void load(const std::filesystem::path& checkpoint);
  /// Begins with the model, optimizer and position of another run, whose settings must have been
  /// the same so far; parts that it did not have begin now. Its best evaluation counts only if
  /// `keep_best`; then this run's folder needs its best.safetensors. Throws FileError.
  void begin_with(const std::filesystem::path& checkpoint, bool keep_best);
  /// Begins at step 0 with the weights of a trained model, which may be of other data and may have
  /// lost heads, and with its moments if they are kept. Throws UsageError if that model lacks heads
  /// that this one still has after their removal; FileError for other sizes, and for a file without
  /// moments.
  void take_weights(const std::filesystem::path& checkpoint, Moments moments);
  /// With a folder, the checkpoint has the run's manifest, and the log reaches the disk before it.
  void save(const std::filesystem::path& checkpoint) const;

  /// One step of the next batch, with all parts, and nothing else: for runs in lockstep.
  StepReport step();
  /// Trains until settings().steps are done, or the last settings().patience evaluations found no
  /// better model. Returns false when `stop` ended it before; the running step is finished and
  /// saved first. It also ends, and saves, after step `until`, if that is not 0.
  bool run(const StopSignals* stop = nullptr, Index until = 0);
  /// Takes the parameters of the best evaluation, if there is an earlier one than the last, and
  /// measures them on the test set, unless `test` is false. Returns {"task", "seed", "steps",
  /// "parameters", "heads_alive", "best_step", "ended_by" ("patience", if it was), "task_check" (of
  /// check_task(), which takes test examples in any case), "test"} and the keys of `more`, which is
  /// also summary.json. Ends the run: the optimizer is still that of the last step, so it must not
  /// train or save afterwards.
  Record conclude(const Record& more = Record::object(), bool test = true);

  const TrainingSettings& settings() const { return settings_; }
  Learner& learner() { return *learner_; }
  Module& model() { return learner_->model(); }
  Optimizer& optimizer() { return *optimizer_; }
  Index steps() const { return trainer_.steps(); }
  /// Throws UsageError without one.
  const RunFolder& folder() const;

 private:
  struct Regular {
    Index every;
    Observer observer;
  };
  void evaluate(StepReport& report);
  /// The loss of the next batch, on the tape; of its earlier parts, the gradients are there
  /// already.
  Tensor loss(HeadProbe* probe);
  bool is_out_of_patience() const;
  /// Throws FileError if the model of the best evaluation, which conclude() takes after the last
  /// step, is missing or is not one of this run.
  void check_best(const RunFolder& folder) const;

  TrainingSettings settings_;
  std::unique_ptr<Learner> learner_;
  std::unique_ptr<Optimizer> optimizer_;
  Trainer trainer_;
  HeadTelemetry telemetry_;
  BestSoFar best_;
  Checkpoint checkpoint_;
  std::vector<Regular> observers_;
  std::optional<RunFolder> folder_;
  Manifest manifest_;              // with a folder; all but the log
  std::optional<MetricsLog> log_;  // while run() trains
  bool parts_fixed_ = false;
  bool rate_missing_;  // the settings name a function that was not given yet
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
