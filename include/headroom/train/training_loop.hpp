// TrainingLoop: repeats a step, with observers that measure, save and print after it.
#pragma once

#include <functional>
#include <vector>

#include "headroom/train/stop_signals.hpp"
#include "headroom/train/trainer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Sees each step when it is done; may add to report.metrics and change the model.
using Observer = std::function<void(StepReport& report)>;

/// Runs a step function until a number of steps is done. Observers are called in the order in which
/// they were added, so those that measure come before those that log.
/// ```
/// TrainingLoop loop(2000, [&] {
///   Seq2SeqBatch batch = loader.next();
///   return trainer.step([&] { return training_loss(model, batch); }, batch.target_tokens);
/// });
/// loop.every(100, [&](StepReport& report) { report.metrics["validation_loss"] = ...; });
/// loop.each(std::ref(log));
/// loop.each(std::ref(progress));
/// loop.every(500, [&](StepReport&) { checkpoint.save(folder.checkpoint()); });
/// loop.run(trainer.steps(), &signals);
/// ```
class TrainingLoop {
 public:
  TrainingLoop(Index steps, std::function<StepReport()> step)
      : steps_(steps), step_(std::move(step)) {}

  /// After every step.
  void each(Observer observer) { every(1, std::move(observer)); }
  /// After steps n, 2n, 3n, ... and after the last one. Throws UsageError for n < 1.
  void every(Index n, Observer observer);
  /// Once, after the step at which the run ends or is stopped: to save.
  void at_end(Observer observer) { at_end_.push_back(std::move(observer)); }

  /// From an observer: the run ends after this step.
  void end() { ended_ = true; }

  /// Continues after `done` steps. Returns true when all steps are done, false when `stop` ended it
  /// before; the running step is finished first. It also ends after step `until`, if that is not 0.
  /// Does nothing if `done` is all steps.
  bool run(Index done = 0, const StopSignals* stop = nullptr, Index until = 0);

 private:
  struct Regular {
    Index every;
    Observer observer;
  };
  Index steps_;
  bool ended_ = false;
  std::function<StepReport()> step_;
  std::vector<Regular> regular_;
  std::vector<Observer> at_end_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
