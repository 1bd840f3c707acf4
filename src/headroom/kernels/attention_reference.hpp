// Attention of one head in xtensor: the reference of kernels/attention.
#pragma once

#include "kernels/softmax_reference.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace reference {

/// A B, entry by entry, so that it takes any scalar.
template <class S>
Matrix<S> product(const Matrix<S>& a, const Matrix<S>& b) {
  Matrix<S> c = xt::zeros<S>({a.shape(0), b.shape(1)});
  for (std::size_t i = 0; i < a.shape(0); ++i) {
    for (std::size_t k = 0; k < a.shape(1); ++k) {
      for (std::size_t j = 0; j < b.shape(1); ++j) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

/// softmax(scale Q K^T, over the allowed keys) V.
template <class S>
Matrix<S> attention(const Matrix<S>& query, const Matrix<S>& key, const Matrix<S>& value,
                    const Allowed& allowed, double scale) {
  const Matrix<S> transposed_key = xt::transpose(key);
  const Matrix<S> scores = product(query, transposed_key) * static_cast<S>(scale);
  return product(softmax(scores, allowed), value);
}

}  // namespace reference
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
