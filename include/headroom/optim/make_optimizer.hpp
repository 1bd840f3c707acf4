// Optimizers by name.
#pragma once

#include <memory>

#include "headroom/optim/optimizer.hpp"
#include "headroom/optim/parameter_blocks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The optimizers that a training run chooses from.
enum class OptimizerKind { adamw, sgd, lamb, muon };

/// An optimizer and the options that training runs set.
struct OptimizerChoice {
  OptimizerKind kind = OptimizerKind::adamw;
  double beta1 = 0.9, beta2 = 0.999;              // AdamW's and LAMB's
  double weight_decay = 0.01;                     // biases and norms have none
  Granularity granularity = Granularity::tensor;  // LAMB's and Muon's
};

/// Throws UsageError for a granularity of an optimizer that treats every element alike.
void check(const OptimizerChoice& choice);

/// Makes the optimizer. SGD has a momentum of 0.9; Muon's AdamW, for the parameters that are not
/// orthogonalised, has a tenth of the learning rate. `groups` come before that of biases and norms.
/// Throws what check() throws.
std::unique_ptr<Optimizer> make_optimizer(Module& model, const OptimizerChoice& choice,
                                          std::vector<ParameterGroup> groups = {});

/// A learning rate for this optimizer on a model that AdamW trains well with `adamw_rate`: 50 times
/// it for SGD, 5 times for LAMB, 10 times for Muon. A starting point, not a tuned value.
double usual_rate(OptimizerKind kind, double adamw_rate);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
