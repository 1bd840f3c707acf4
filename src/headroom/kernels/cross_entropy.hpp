// Cross-entropy of rows of logits against target numbers.
#pragma once

#include <cstdint>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

/// The targets of a batch of rows. Row r with target[r] == ignore is ignored.
struct Targets {
  const std::int32_t* target;
  std::int32_t ignore;
  Real smoothing;  // the target distribution is (1 - smoothing) one-hot + smoothing / classes
};

/// loss_r = log_sum_exp_r - (1 - smoothing) x_r,target - smoothing mean_c(x_rc), 0 when ignored.
/// Keeps log_sum_exp, one per row, for the backward pass.
void cross_entropy(const Real* logits, const Targets& targets, Index rows, Index classes,
                   Real* loss, Real* log_sum_exp);

/// dx_rc (+)= dloss_r (e^(x_rc - log_sum_exp_r) - wanted_rc); `add` tells whether dx has a sum
/// already.
void cross_entropy_backward(const Real* logits, const Targets& targets, const Real* log_sum_exp,
                            const Real* dloss, Index rows, Index classes, bool add, Real* dx);

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
