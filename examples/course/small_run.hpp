// A model with 12 heads that learns dates in a minute.
#pragma once

#include <cstdint>

#include "headroom_runs/runs/training_settings.hpp"

inline headroom::TrainingSettings small_run(std::uint64_t seed, headroom::Index steps) {
  headroom::TrainingSettings settings;
  settings.model.block = {.width = 32, .heads = 4, .hidden = 64};
  settings.model.layers = 1;
  settings.data.seed = seed;
  settings.learner.batch_size = 32;
  settings.rate = {.shape = headroom::RateShape::cosine, .peak = 0.01, .warmup = 50};
  settings.steps = steps;
  settings.telemetry = 0;
  settings.derive();
  return settings;
}
