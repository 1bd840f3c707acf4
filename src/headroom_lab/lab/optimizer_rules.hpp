// The optimizers that the laboratory compares, and how they train. Private.
#pragma once

#include <optional>
#include <vector>

#include "headroom/optim/parameter_blocks.hpp"
#include "headroom/statistics/intervals.hpp"
#include "lab/scaled_head.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The optimizers of all experiments, with the library's default options except these.
OptimizerMaker make_sgd(double momentum = 0);
OptimizerMaker make_adam(double epsilon = 1e-8);
OptimizerMaker make_adamw(double epsilon = 1e-8);  // with a weight decay of 0.01

/// An optimizer; one that acts on whole tensors has a granularity.
struct OptimizerRule {
  TrainingRule training;
  std::optional<Granularity> granularity = {};

  const std::string& name() const { return training.name; }
  bool elementwise() const { return !granularity; }
  bool by_tensor() const { return granularity == Granularity::tensor; }
};

/// SGD, Adam, AdamW, and LAMB and Muon with each granularity. Learning rates are fixed, not tuned.
std::vector<OptimizerRule> optimizer_rules(Index width);

/// Imitation without biases, from the same start in both layouts.
struct TrainingCurves {
  static constexpr Index steps = 150;
  std::vector<double> fused;  // mean squared error of fused heads before each step
  double apart = 0;           // difference of the layouts' final weights, relative to the maximum
  double step_time = 0;       // milliseconds of the optimizer's step, fused heads, median of all
};
TrainingCurves train_both_layouts(const OptimizerRule& rule, Index width, Index heads,
                                  std::uint64_t seed);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
