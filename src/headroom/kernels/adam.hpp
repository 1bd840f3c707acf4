// One step of Adam over contiguous elements.
#pragma once

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Constants of one step, the same for all elements; computed in double, used in Real.
struct AdamStep {
  Real shrink = 1;           // 1 - rate * decay when the decay is decoupled
  Real decay = 0;            // added to the gradient when it is not
  Real first_weight = 0;     // 1 - beta1
  Real second_keep = 0;      // beta2
  Real second_weight = 0;    // 1 - beta2
  Real root_correction = 1;  // sqrt(1 - beta2^t)
  Real epsilon = 0;
  Real step_size = 0;  // rate / (1 - beta1^t)
};

/// Constants of step t = 1, 2, ...
AdamStep adam_step(double rate, double beta1, double beta2, double epsilon, double weight_decay,
                   bool decoupled, std::int64_t t);

/// In one pass over n parameters p with gradients g and moments m and v:
///   p = shrink p;  g' = g + decay p;  m = lerp(m, g', first_weight);
///   v = second_keep v + (second_weight g') g';  p -= (step_size m) / (sqrt(v) / root_correction +
///   epsilon)
/// with the roundings of torch.optim.Adam on a processor.
void adam(const AdamStep& step, Index n, Real* p, const Real* g, Real* m, Real* v);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
