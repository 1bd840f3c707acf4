// The task of a run, and the settings that follow from others.
#include "headroom_runs/runs/training_settings.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Task TrainingSettings::make_task() const {
  return hold_out(HEADROOM_PRECISION::make_task(task, data), fold);
}

void TrainingSettings::derive() {
  learner.seed = data.seed;
  rate.steps = steps;
  data.window = learner.length;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
