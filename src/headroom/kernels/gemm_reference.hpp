// Matrix product, the reference: xtensor-blas on contiguous arrays.
#pragma once

#include <xtensor-blas/xblas.hpp>

#include "array/xtensor.hpp"
#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace reference {

/// A row-major matrix over borrowed memory.
template <class Scalar>
auto matrix(Scalar* data, Index rows, Index columns) {
  const std::array<std::size_t, 2> shape{static_cast<std::size_t>(rows),
                                         static_cast<std::size_t>(columns)};
  return xt::adapt(data, shape[0] * shape[1], xt::no_ownership(), shape);
}

/// C = A B for A [m, k] and B [k, n]; a transposed factor is stored the other way round. All three
/// are contiguous, C is overwritten.
template <class Scalar>
void gemm(Index m, Index n, Index k, const Scalar* a, bool transpose_a, const Scalar* b,
          bool transpose_b, Scalar* c) {
  auto product = matrix(c, m, n);
  if (m == 0 || n == 0) return;
  if (k == 0) {
    product.fill(Scalar(0));
    return;
  }
  const auto left = transpose_a ? matrix(a, k, m) : matrix(a, m, k);
  const auto right = transpose_b ? matrix(b, n, k) : matrix(b, k, n);
  xt::blas::gemm(left, right, product, transpose_a, transpose_b);
}

}  // namespace reference
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
