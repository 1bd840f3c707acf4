// TrainingScores: scores of heads from the gradients that training computes anyway.
#pragma once

#include <string>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom/train/step_part.hpp"
#include "headroom_measure/importance/head_scores.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Records the metrics running_sensitivity and movement: for every head, the mean over the steps of
/// |s| and the sum of -s, s = <W_O^h, dL/dW_O^h> of the step's batch before clipping. Without gates
/// s is dL/dg_h, see gate_gradients(). L is what the step minimises: the mean loss per token, and
/// the penalties of other parts. A step that fails counts for nothing. A head that was removed
/// keeps what it has; a head that comes back goes on from there.
class TrainingScores : public StepPart, public Stateful {
 public:
  /// The model must outlive it.
  explicit TrainingScores(Module& model) : model_(&model) {}
  /// The names of the metrics.
  static std::vector<std::string> metrics() { return {"running_sensitivity", "movement"}; }

  /// The scores of all heads that took part in a step; see recorded_scores().
  RecordedScores scores() const;

  void after_backward() override;
  void after_update(StepReport& report) override;
  void save_state(StateWriter to) const override;
  /// A checkpoint of a run that did not record scores is as one before the first step.
  void load_state(const StateReader& from) override;

 private:
  struct Sums {
    HeadId head;
    Index steps = 0;
    double absolute = 0, sum = 0;

    using T = Sums;
    using Fields = Listed<fields_of<&T::head>, &T::steps, &T::absolute, &T::sum>;
  };

  Module* model_;
  std::vector<HeadScore> now_;  // s of the step that is running
  std::vector<Sums> sums_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
