// RMS norm in xtensor: the reference of kernels/rms_norm.
#pragma once

#include "kernels/reference.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace reference {

/// x / sqrt(mean(x^2) + epsilon) * weight along rows.
template <class S>
Matrix<S> rms_norm(const Matrix<S>& x, const Vector<S>& weight, double epsilon) {
  const Matrix<S> squares = x * x;
  const Matrix<S> root =
      xt::sqrt(row_sum(squares) / static_cast<S>(double(x.shape(1))) + static_cast<S>(epsilon));
  return x / root * weight;
}

}  // namespace reference
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
