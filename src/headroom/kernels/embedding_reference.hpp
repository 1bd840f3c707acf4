// Table look-up in xtensor: the reference of kernels/embedding.
#pragma once

#include "kernels/reference.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace reference {

/// Rows of the table by number: the product of one-hot rows and the table.
template <class S>
Matrix<S> embedding(const Matrix<S>& table, const xt::xtensor<std::int32_t, 1>& ids) {
  Matrix<S> result = xt::zeros<S>({ids.shape(0), table.shape(1)});
  for (std::size_t n = 0; n < ids.shape(0); ++n) {
    for (std::size_t c = 0; c < table.shape(1); ++c) {
      result(n, c) = table(static_cast<std::size_t>(ids(n)), c);
    }
  }
  return result;
}

}  // namespace reference
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
