// Matrix product over raw memory: the BLAS, one thread per slab of the result.
#pragma once

#include <span>
#include <string>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A factor of a product: a row-major matrix whose rows start `stride` elements apart, read as it
/// is or transposed.
struct Factor {
  const Real* data;
  Index stride;
  bool is_transposed = false;
};
inline Factor transposed(const Real* data, Index stride) { return {data, stride, true}; }

/// C = alpha A B + beta C for A [m, k], B [k, n] (after transposing) and C [m, n] with rows
/// `c_stride` apart. With beta = 0 the elements of C are not read. Any size may be 0.
///
/// Large products are cut into slabs of rows (or of columns, where those are more) that run in
/// parallel, each on a single-threaded BLAS. The cuts depend on m, n, k and the machine's number of
/// processors only, so any number of threads gives the same bits; inside a parallel_for the same
/// slabs are computed one after the other.
void gemm(Index m, Index n, Index k, Real alpha, Factor a, Factor b, Real beta, Real* c,
          Index c_stride);

/// C = alpha A B + beta C, as the arguments of gemm().
struct Product {
  Index m, n, k;
  Real alpha;
  Factor a, b;
  Real beta;
  Real* c;
  Index c_stride;
};

/// Independent products, at the same time: they share the processors, so each is cut into fewer
/// slabs. Every slab packs the other factor anew, which takes about 10 % of a product's time.
void gemm(std::span<const Product> products);

/// Name and version of the linked BLAS, for example "OpenBLAS 0.3.21 ... SkylakeX".
std::string describe_blas();

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
