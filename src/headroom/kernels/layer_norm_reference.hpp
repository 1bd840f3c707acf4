// Layer norm in xtensor: the reference of kernels/layer_norm.
#pragma once

#include "kernels/reference.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace reference {

/// (x - mean) / sqrt(variance + epsilon) * weight + bias along rows.
template <class S>
Matrix<S> layer_norm(const Matrix<S>& x, const Vector<S>& weight, const Vector<S>& bias,
                     double epsilon) {
  const S count = static_cast<S>(double(x.shape(1)));
  const Matrix<S> mean = row_sum(x) / count;
  const Matrix<S> centred = x - mean;
  const Matrix<S> squares = centred * centred;
  const Matrix<S> root = xt::sqrt(row_sum(squares) / count + static_cast<S>(epsilon));
  return centred / root * weight + bias;
}

}  // namespace reference
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
