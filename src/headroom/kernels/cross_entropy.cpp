// Cross-entropy row by row, by log-sum-exp.
#include "kernels/cross_entropy.hpp"

#include <algorithm>
#include <cmath>

#include "headroom/base/parallel.hpp"
#include "kernels/simd.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

void cross_entropy(const Real* logits, const Targets& targets, Index rows, Index classes,
                   Real* loss, Real* log_sum_exp) {
  const Real share = targets.smoothing / Real(classes);
  parallel_for(rows, grain_for(classes), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const std::int32_t target = targets.target[r];
      if (target == targets.ignore) {
        loss[r] = log_sum_exp[r] = 0;
        continue;
      }
      // All relative to the largest logit, so that a common offset costs no digits.
      const Real* const x = logits + r * classes;
      const Real shift = row_max(x, classes);
      const Real log_sum = std::log(row_exp_sum(x, classes, shift));
      loss[r] = log_sum - (1 - targets.smoothing) * (x[target] - shift);
      if (share != 0) loss[r] -= share * row_sum_above(x, classes, shift);
      log_sum_exp[r] = shift + log_sum;
    }
  });
}

void cross_entropy_backward(const Real* logits, const Targets& targets, const Real* log_sum_exp,
                            const Real* dloss, Index rows, Index classes, bool add, Real* dx) {
  const Real share = targets.smoothing / Real(classes);
  parallel_for(rows, grain_for(classes), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      Real* const out = dx + r * classes;
      if (!add) std::fill_n(out, classes, Real(0));
      const std::int32_t target = targets.target[r];
      if (target == targets.ignore) continue;
      row_add_exp(logits + r * classes, classes, log_sum_exp[r], dloss[r], out);
      if (share != 0) {
#pragma omp simd
        for (Index c = 0; c < classes; ++c) out[c] -= dloss[r] * share;
      }
      out[target] -= dloss[r] * (1 - targets.smoothing);
    }
  });
}

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
