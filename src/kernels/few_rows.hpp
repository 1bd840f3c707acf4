// A product whose left factor has few rows, as when texts are written word by word.
#pragma once

#include "kernels/gemm.hpp"

namespace headroom::inline HEADROOM_PRECISION {
namespace kernels {

/// With at most this many rows of A few_rows is faster than the BLAS.
inline constexpr Index few_rows_limit = 24;

/// C = alpha A B^T + beta C, A [m, k] and B [n, k] as they lie in memory. Every number is a dot
/// product of two rows, so B is read once; BLAS would pack all of it first.
void few_rows(Index m, Index n, Index k, Real alpha, Factor a, Factor b, Real beta, Real* c,
              Index c_stride);

}  // namespace kernels
}  // namespace headroom::inline HEADROOM_PRECISION
