// Cross-entropy in xtensor: the reference of kernels/cross_entropy.
#pragma once

#include "kernels/softmax_reference.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace reference {

/// -sum_c q_rc log softmax(x)_rc per row, with q = (1 - smoothing) one-hot + smoothing / classes;
/// 0 for rows whose target is `ignore`.
template <class S>
Vector<S> cross_entropy(const Matrix<S>& logits, const xt::xtensor<std::int32_t, 1>& targets,
                        double smoothing, std::int32_t ignore) {
  Matrix<S> wanted = xt::zeros<S>(logits.shape());
  const double share = smoothing / double(logits.shape(1));
  for (std::size_t r = 0; r < logits.shape(0); ++r) {
    if (targets(r) == ignore) continue;
    for (std::size_t c = 0; c < logits.shape(1); ++c) wanted(r, c) = static_cast<S>(share);
    wanted(r, static_cast<std::size_t>(targets(r))) += static_cast<S>(1 - smoothing);
  }
  const Matrix<S> terms = -wanted * log_softmax(logits);
  return xt::sum(terms, {1}, xt::evaluation_strategy::immediate);
}

}  // namespace reference
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
