// Trainer: one training step, from the loss to the changed parameters.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "headroom/optim/optimizer.hpp"
#include "headroom/optim/rate.hpp"
#include "headroom/train/step_part.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The options of a training step: the seed of dropout and gradient clipping.
struct TrainerOptions {
  std::uint64_t seed = 1;  // of dropout
  double clip = 1;         // limit of the global gradient norm; 0: no clipping
};

/// One training step after another: random step, forward pass, backward pass, clipping, learning
/// rate, update. Two trainers with the same seed, given the same batches, train two models in
/// lockstep. Its state is the number of steps.
class Trainer : public Stateful {
 public:
  /// Model and optimizer must outlive it.
  Trainer(Optimizer& optimizer, RateSchedule rate, TrainerOptions options = {});

  /// Adds a part of every later step; it must outlive the trainer.
  void add(StepPart& part) { parts_.push_back(&part); }
  /// After `from` steps the learning rate follows another schedule, which begins there: for a run
  /// in phases. Phases are added in their order. Throws UsageError otherwise.
  void add_phase(Index from, RateSchedule rate);
  /// Replaces the schedule of the first phase.
  void set_rate(RateSchedule rate) { phases_.front().rate = std::move(rate); }

  /// One step. `loss` computes the mean loss of a batch that is already drawn; it gives the probe
  /// to the model's forward pass. When the loss or a gradient is NaN or infinite, `loss` is called
  /// once more under AnomalyMode, to find the operation that made it. `tokens` is for the report.
  /// Throws NumericError naming the step, the first tensor and the operation; parameters and
  /// moments are then those before the step. The loss may have called backward() for parts of the
  /// batch: gradients are set to zero before it is called.
  StepReport step(const std::function<Tensor(HeadProbe* probe)>& loss, Index tokens = 0);
  /// The same for a loss that takes no probe; for steps in which no part needs one.
  StepReport step(const std::function<Tensor()>& loss, Index tokens = 0);

  /// The optimizer has moments of an earlier training: updates so far do not count as steps.
  void keep_moments() { earlier_ = most_updates().first; }

  Index steps() const { return steps_; }
  Module& model() const { return optimizer_->model(); }
  Optimizer& optimizer() const { return *optimizer_; }

  void save_state(StateWriter to) const override;
  /// Throws FileError also when the seed is another one.
  void load_state(const StateReader& from) override;

 private:
  using Loss = std::function<Tensor(HeadProbe* probe)>;
  /// The batch's loss and the penalties of all parts.
  struct Objective {
    Tensor loss, total;
  };
  Objective forward(const Loss& loss);
  /// The parameter with the most updates, and their number.
  std::pair<Index, std::string> most_updates() const;
  [[noreturn]] void explain(const Loss& loss, const std::string& symptom);

  struct Phase {
    Index from;
    RateSchedule rate;
  };
  Optimizer* optimizer_;
  std::vector<Phase> phases_;
  TrainerOptions options_;
  std::vector<StepPart*> parts_;
  HeadProbe probe_;  // of the step that is running
  Index steps_ = 0;
  Index earlier_ = 0;  // updates of the moments before the first step
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
