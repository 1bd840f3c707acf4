// The small training run of the tests: its settings and its task.
#pragma once

#include "headroom/data/embedded_tasks.hpp"
#include "headroom_runs/runs/training_settings.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

/// A model with 4 heads in each of its 3 attentions.
inline TrainingSettings small_settings(Index steps, Real dropout = 0) {
  TrainingSettings settings;
  settings.task = "reverse";
  settings.model.block = {.width = 16, .heads = 4, .hidden = 24, .dropout = dropout};
  settings.model.layers = 1;
  settings.learner.batch_size = 8;
  settings.steps = steps;
  settings.telemetry = 0;
  settings.derive();
  return settings;
}

inline Task small_task(Index validation = 40) {
  return make_reverse_task({.seed = 3, .train = 90, .validation = validation, .test = 9});
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
