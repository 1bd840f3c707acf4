// A product whose left factor has few rows, as when a text is generated token by token.
#pragma once

#include "kernels/gemm.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

/// With at most this many rows of A few_rows is faster than the BLAS, unless the rows are shorter
/// than this: then adding up the lanes of the sums takes longer than the products.
inline constexpr Index few_rows_limit = 24, few_rows_shortest = 128;

/// Addend of a product: beta times C, or a bias for every column. With neither, the elements of C
/// are not read.
struct Addend {
  Real beta = 0;
  const Real* bias = nullptr;  // [n], with beta = 0
};

/// C = alpha A B^T + addend, A [m, k] and B [n, k] as they are stored. Every element is a dot
/// product of two rows, so B is read once; BLAS would pack all of it first.
void few_rows(Index m, Index n, Index k, Real alpha, Factor a, Factor b, Addend addend, Real* c,
              Index c_stride);

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
