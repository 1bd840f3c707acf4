// Evaluation after a step that other parts have changed the model in.
#include "headroom_runs/runs/measured_after.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

void MeasuredAfter::after_update(StepReport& report) {
  if (report.step != step_) return;
  result_ = {{"step", step_},
             {"heads_alive", live_heads(learner_->model()).size()},
             {"validation", learner_->evaluate()}};
  if (test_) result_["test"] = learner_->test();
}

void MeasuredAfter::save_state(StateWriter to) const { to.record("result", result_); }

void MeasuredAfter::load_state(const StateReader& from) {
  result_ = from.has("result") ? from.record("result") : Record::object();
  if (result_ == Record::object()) return;
  try {
    struct_of<AfterCut>(result_, from.where("result"));
  } catch (const DataError& error) {
    throw FileError(error.what());
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
