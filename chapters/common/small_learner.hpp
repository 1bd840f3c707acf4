// A small encoder-decoder with random weights and some words, for the checks of exercises on heads.
#pragma once

#include "common/checks.hpp"
#include "headroom/data/task.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/train/learner.hpp"

namespace chapter {

/// Three heads in each attention. The weights are not small, so that every head counts; the
/// activation is smooth, for differences of the loss.
inline std::unique_ptr<headroom::Learner> small_learner(std::uint64_t seed, Index layers = 1,
                                                        headroom::Layout layout = {}) {
  headroom::ModelConfig config;
  config.block = {.width = 12, .heads = 3, .hidden = 16};
  config.block.activation = headroom::Activation::gelu;
  config.block.layout = layout;
  config.layers = layers;
  const headroom::Task task =
      headroom::make_task("reverse", {.seed = seed, .train = 32, .validation = 32, .test = 32});
  const headroom::LearnerOptions options{.seed = seed};
  auto learner = make_learner(task, fitted_to(task, config, options), options);
  headroom::Rng rng(seed, "11 weights");
  for (headroom::NamedParameter& p : parameters(learner->model())) {
    p.tensor.set_value(normal(p.tensor.shape(), Real(0.4), rng));
  }
  return learner;
}

}  // namespace chapter
