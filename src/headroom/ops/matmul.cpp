// The matrix product over the last two axes, the leading ones broadcast.
#include "headroom/ops/matmul.hpp"

#include "algebra/products.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "kernels/gemm.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor matmul(const Tensor& a, const Tensor& b) {
  OpScope op("matmul");
  const Products p = plan_products(op.name(), a.shape(), b.shape());
  Array y = matmul(a.value(), b.value());
  // da = dy b^T, db = a^T dy. Where a matrix was multiplied with several others the products are
  // added up, in order; a sum that is written once and for the first time is overwritten instead of
  // cleared.
  return record(op, y, {a, b}, [a = a.value(), b = b.value(), p](const Array& dy, Gradients& into) {
    const auto sum_of = [&p](GradientSlot slot, Real& beta) {
      const auto [sum, add] = p.each_once ? slot.write_or_add() : WriteOrAdd{slot.sum(), true};
      beta = add ? Real(1) : Real(0);
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
