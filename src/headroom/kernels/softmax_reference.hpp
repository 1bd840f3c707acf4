// Softmax in xtensor: the reference of kernels/softmax.
#pragma once

#include "kernels/reference.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace reference {

/// e^x / sum e^x along rows over the allowed entries; a row with none is 0.
template <class S>
Matrix<S> softmax(const Matrix<S>& x, const Allowed& allowed) {
  const Matrix<S> shifted = x - row_max(x, allowed);
  const Matrix<S> e = only<S>(allowed, xt::exp(shifted));
  const Matrix<S> sum = row_sum(e);
  return only<S>(allowed, e / sum);
}

template <class S>
Matrix<S> softmax(const Matrix<S>& x) {
  return softmax(x, all_allowed(x.shape(0), x.shape(1)));
}

/// x - log sum e^x along rows.
template <class S>
Matrix<S> log_softmax(const Matrix<S>& x) {
  const Matrix<S> shifted = x - row_max(x, all_allowed(x.shape(0), x.shape(1)));
  const Matrix<S> e = xt::exp(shifted);
  const Matrix<S> sum = row_sum(e);
  return shifted - xt::log(sum);
}

}  // namespace reference
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
