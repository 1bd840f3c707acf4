// DropHead: training with heads left out at random.
#pragma once

#include "headroom/train/step_part.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// In each training step every head of every example is left out with a probability that falls
/// linearly from p at step 1 to 0 after step `steps`; see drop_head_gates(). It has no state: the
/// step decides. Zhou et al. 2020, "Scheduled DropHead", whose schedule falls and rises again.
class DropHead : public StepPart {
 public:
  /// Throws UsageError for p outside [0, 1) and for steps below 1.
  DropHead(double p, Index steps);

  /// p (1 - (step - 1) / steps), at least 0.
  double probability(Index step) const;
  void begin(Index step, HeadProbe& probe) override;

 private:
  double p_;
  Index steps_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
