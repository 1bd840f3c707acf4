// The matrix products behind one matmul, forward and backward. Private.
#pragma once

#include <algorithm>

#include "headroom/base/parallel.hpp"
#include "headroom/base/shape.hpp"
#include "kernels/broadcast.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// `batches` products of [m, k] and [k, n], and which matrices are multiplied with each other.
struct Products {
  Shape leading;  // leading axes of the result
  Index m, n, k, batches;
  BroadcastPlan plan;  // over leading; input 0 is a, input 1 is b
  bool each_once;      // no matrix is repeated: gradients can be written in parallel
  double flops() const { return 2.0 * double(batches) * double(m) * double(n) * double(k); }
};

/// Plans a b for [..., M, K] and [..., K, N], the leading axes broadcast. Throws ShapeError that
/// starts with `op`.
Products plan_products(const char* op, const Shape& a, const Shape& b);

/// Calls product(batch, matrix of a, matrix of b): in order, or in parallel when there are many
/// small ones that do not depend on each other.
template <class F>
void for_each_product(const Products& p, bool independent, F product) {
  constexpr Index chunk_work = 500'000;  // multiply-adds
  const bool parallel = independent && p.batches >= 4;
  const Index grain =
      parallel ? grain_for(p.m * p.n * p.k, chunk_work) : std::max<Index>(1, p.batches);
  parallel_for(p.batches, grain, [&](Index begin, Index end) {
    BroadcastWalk walk(p.plan, begin);
    for (Index batch = begin; batch < end; ++batch) {
      product(batch, walk.offset(0), walk.offset(1));
      walk.advance(1);
    }
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
