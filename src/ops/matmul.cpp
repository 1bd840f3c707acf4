// The matrix product over the last two axes, the leading ones broadcast.
#include "headroom/ops/matmul.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/parallel.hpp"
#include "kernels/broadcast.hpp"
#include "kernels/gemm.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

Shape leading_axes(const Shape& shape) { return shape.without(-1).without(-1); }

/// The products behind one matmul: `batches` of [m, k] [k, n], and which matrices are multiplied
/// with each other.
struct Products {
  Shape leading;  // of the result
  Index m, n, k, batches;
  BroadcastPlan plan;  // over leading; input 0 is a, input 1 is b
  bool each_once;      // no matrix is repeated: gradients can be written in parallel
  double flops() const {
    return 2.0 * static_cast<double>(batches) * static_cast<double>(m) * static_cast<double>(n) *
           static_cast<double>(k);
  }
};

Products plan_products(const char* op, const Shape& a, const Shape& b) {
  if (a.rank() < 2 || b.rank() < 2) {
    throw ShapeError(
        fmt::format("{}: shapes {} and {}; both need at least two axes", op, a.text(), b.text()));
  }
  if (a[-1] != b[-2]) {
    throw ShapeError(fmt::format("{}: a {} has {} columns but b {} has {} rows", op, a.text(),
                                 a[-1], b.text(), b[-2]));
  }
  Products p;
  const Shape a_leading = leading_axes(a), b_leading = leading_axes(b);
  p.m = a[-2], p.n = b[-1], p.k = a[-1];
  if (b_leading.size() == 1 && b.rank() <= a.rank()) {
    // One b for all: the rows of all matrices of a are contiguous already.
    p.leading = a_leading;
    p.m *= a_leading.size();
    p.batches = 1;
    p.plan = plan_broadcast({}, {{}, {}});
    p.each_once = true;
    return p;
  }
  p.leading = broadcast(op, a_leading, b_leading);
  p.batches = p.leading.size();
  p.plan = plan_broadcast(p.leading, {a_leading, b_leading});
  p.each_once = a_leading.size() == p.batches && b_leading.size() == p.batches;
  return p;
}

/// Calls product(batch, matrix of a, matrix of b): in order, or in parallel when there are
/// many small ones that do not depend on each other.
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

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  OpScope op("matmul");
  const Products p = plan_products(op.name(), a.shape(), b.shape());
  Shape shape = p.leading;
  shape.push_back(a.dim(-2));
  shape.push_back(b.dim(-1));
  Array y(shape);
  op.work(p.flops(), 0);
  for_each_product(p, true, [&](Index batch, Index in_a, Index in_b) {
    gemm(p.m, p.n, p.k, Real(1), {a.value().data() + in_a * p.m * p.k, p.k},
         {b.value().data() + in_b * p.k * p.n, p.n}, Real(0), y.data() + batch * p.m * p.n, p.n);
  });
  // da = dy b^T, db = a^T dy. Where a matrix was multiplied with several others the products are
  // added up, in order; a sum that is written once and for the first time is overwritten instead of
  // cleared.
  return record(op, y, {a, b}, [a = a.value(), b = b.value(), p](const Array& dy, Gradients& into) {
    const auto sum_of = [&p](GradientSlot slot, Real& beta) {
      bool fresh = false;
      Array& sum = p.each_once ? slot.sum(fresh) : slot.sum();
      beta = fresh ? Real(0) : Real(1);
      return sum.data();
    };
    Real beta = 0;
    if (into[0].wanted()) {
      OpScope::current()->work(p.flops(), 0);
      Real* const da = sum_of(into[0], beta);
      for_each_product(p, p.each_once, [&](Index batch, Index in_a, Index in_b) {
        gemm(p.m, p.k, p.n, Real(1), {dy.data() + batch * p.m * p.n, p.n},
             transposed(b.data() + in_b * p.k * p.n, p.n), beta, da + in_a * p.m * p.k, p.k);
      });
    }
    if (into[1].wanted()) {
      OpScope::current()->work(p.flops(), 0);
      Real* const db = sum_of(into[1], beta);
      for_each_product(p, p.each_once, [&](Index batch, Index in_a, Index in_b) {
        gemm(p.k, p.n, p.m, Real(1), transposed(a.data() + in_a * p.m * p.k, p.k),
             {dy.data() + batch * p.m * p.n, p.n}, beta, db + in_b * p.k * p.n, p.n);
      });
    }
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
