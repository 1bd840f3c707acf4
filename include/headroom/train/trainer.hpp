// Trainer: one training step, from the loss to the changed parameters.
#pragma once

#include <functional>
#include <string>

#include "headroom/optim/optimizer.hpp"
#include "headroom/optim/rate.hpp"
#include "headroom/train/telemetry.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// What one training step did. Observers add their own numbers to `metrics`; the log writes all.
struct StepReport {
  Index step = 0;            // steps done, this one counted: 1 after the first
  double loss = 0;           // of this batch, before the update
  double gradient_norm = 0;  // before clipping
  double rate = 0;
  Index tokens = 0;    // labels in the batch
  double seconds = 0;  // this step took
  Index heads_alive = 0;
  Record metrics = Record::object();
  Record telemetry = {};  // a line of its own for the log, or null; see HeadTelemetry
};

struct TrainerOptions {
  std::uint64_t seed = 1;  // of dropout
  double clip = 1;         // limit of the global gradient norm; 0: no clipping
  Index telemetry = 0;     // steps from one measurement of every head to the next; 0: none
};

/// Steps a model: random step, forward, backward, clipping, rate, update. Two of them with the same
/// seed, given the same batches, train two models in lockstep. Its state is the number of steps.
class Trainer : public Stateful {
 public:
  /// Model and optimizer must outlive it.
  Trainer(Optimizer& optimizer, RateSchedule rate, TrainerOptions options = {});

  /// One step. `loss` computes the loss of a batch that is already made: when NaN or infinity turns
  /// up in the loss or a gradient it is called once more under AnomalyMode, to find where from.
  /// `tokens` is for the report. Throws NumericError naming the step, the first tensor and the
  /// operation; parameters and moments are then those of before the step.
  /// The loss gives the probe to the model's forward pass: the telemetry's, or nullptr.
  StepReport step(const std::function<Tensor(HeadProbe* probe)>& loss, Index tokens = 0);
  /// The same for a loss that takes no probe; without telemetry.
  StepReport step(const std::function<Tensor()>& loss, Index tokens = 0);

  Index steps() const { return steps_; }
  Module& model() const { return optimizer_->model(); }
  Optimizer& optimizer() const { return *optimizer_; }
  const RateSchedule& rate() const { return rate_; }

  void save_state(StateWriter to) const override;
  /// Throws FileError also when the seed is another one.
  void load_state(const StateReader& from) override;

 private:
  using Loss = std::function<Tensor(HeadProbe* probe)>;
  [[noreturn]] void explain(const Loss& loss, const std::string& symptom);

  Optimizer* optimizer_;
  RateSchedule rate_;
  TrainerOptions options_;
  HeadTelemetry telemetry_;
  Index steps_ = 0;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
