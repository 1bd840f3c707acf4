// LearnedGates: gates of all heads that are learned while a model trains, until k heads are left.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headroom/optim/optimizer.hpp"
#include "headroom/train/step_part.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "headroom_measure/pruning/gate_methods.hpp"
#include "headroom_measure/pruning/pruner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Learns a gate for every head, y = sum_h g_h A_h W_O^h + b_O, in the training steps options.begin
/// + 1, ..., options.end. After the update of the last one it keeps the options.keep heads with the
/// highest values (see GateMethod), folds their gates into W_O and removes the other heads from
/// model and optimizer. From then on the model has no gates. What the method has learned is in
/// the checkpoint, the values as scores of the metric of the method as well (see save_scores());
/// the noise of a step follows from seed, step and head.
///
/// Gates of another part are multiplied by these. The model is evaluated without gates. Telemetry
/// reads <W_O^h, dL/dW_O^h>, which is g_h dL/dg_h at the gates of the step (see HeadReading). Until
/// the heads are removed, no step counts as the best (see StepReport::settled).
class LearnedGates : public StepPart, public Stateful {
 public:
  /// The optimizer and its model must outlive it. Throws UsageError for options out of range and
  /// if so many heads cannot be removed.
  LearnedGates(Optimizer& optimizer, const GateOptions& options, std::uint64_t seed);

  /// The heads that were alive when learning began, in the order of live_heads(); empty before.
  const std::vector<HeadId>& heads() const { return heads_; }
  /// The method's values of these heads: the higher, the more important.
  const std::vector<double>& scores() const { return state_.values; }
  /// The gates of these heads in the last step that was begun; empty if it had none.
  const std::vector<double>& gates() const { return sample_.gates; }
  const GateState& state() const { return state_; }

  /// heads() as a Pruner describes them, with their scores and when they were removed.
  std::vector<HeadHistory> outcome() const;
  /// The removal at the last step of learning, with the scores behind it; empty before.
  std::vector<PruningEvent> timeline() const;
  /// All of this as a value. A page shows importance as a share of the largest, so the scores are
  /// counted from the lowest one. Empty before learning began.
  PruningHistory history() const;

  /// Throws UsageError if another part removed heads while gates are learned.
  void begin(Index step, HeadProbe& probe) override;
  /// Throws UsageError when the forward pass was not given the probe.
  void after_backward() override;
  void after_update(StepReport& report) override;
  void save_state(StateWriter to) const override;
  void load_state(const StateReader& from) override;

 private:
  void start();
  GateStep moment(Index step);
  void finish();

  Optimizer* optimizer_;
  GateOptions options_;
  const GateMethodEntry* entry_;
  std::unique_ptr<GateMethod> method_;
  std::uint64_t seed_;
  std::vector<HeadId> heads_;
  GateState state_;
  // State of the running step; the gates are empty if it has none.
  std::vector<double> noise_, gradient_;
  GateStep step_;
  GateSample sample_;
  std::map<AttentionLocation, Tensor> leaves_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
