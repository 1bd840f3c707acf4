// StepPart: takes part in every training step, as model and optimizer do.
#pragma once

#include <vector>

#include "headroom/base/record_json.hpp"
#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The outcome of one training step. Parts and observers add their own values to `metrics`; the
/// log writes all of them.
struct StepReport {
  Index step = 0;            // steps done, this one included: 1 after the first
  double loss = 0;           // of this batch, before the update and without penalties
  double gradient_norm = 0;  // before clipping
  double rate = 0;           // the learning rate
  Index tokens = 0;          // labels in the batch
  double seconds = 0;        // duration of the step up to the update
  Index heads_alive = 0;
  /// False while a part still takes something away from the model. An earlier model would then win
  /// because it had more of it, so no such step is remembered as the best.
  bool settled = true;
  Record metrics = Record::object();
  /// Separate lines for the log, each with a "step" and a "record", the name of its kind.
  std::vector<Record> lines{};
};

/// Something that takes part in a training step: telemetry, pruning, learned gates. The Trainer
/// calls each function for all of its parts, in the order in which they were added. A part that is
/// also Stateful is saved in the run's checkpoint (see TrainingRun::add()).
class StepPart {
 public:
  virtual ~StepPart() = default;
  /// Before the forward pass of step number `step` (1 is the first), inside its RandomStep: sets
  /// gates, asks for weights or row statistics. The probe is new at every step and stays valid
  /// until after_backward() has returned. It may be called once more in the same step, as
  /// penalty() may.
  virtual void begin([[maybe_unused]] Index step, [[maybe_unused]] HeadProbe& probe) {}
  /// A scalar that is added to the mean loss of the batch; undefined: nothing. It may be asked for
  /// once more in the same step, to find where a NaN comes from.
  virtual Tensor penalty() { return {}; }
  /// After the backward pass, before clipping: the gradients are complete and as computed.
  virtual void after_backward() {}
  /// After the update. May change model and optimizer, and add to the report; `heads_alive` is
  /// counted afterwards.
  virtual void after_update([[maybe_unused]] StepReport& report) {}
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
