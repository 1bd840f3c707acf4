// Unfused versions of the matrix products: rank 2 by xtensor-blas, everything else from that.
#include "headroom/autograd/tape.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/composed.hpp"
#include "headroom/ops/matmul.hpp"
#include "headroom/ops/shaping.hpp"
#include "kernels/broadcast.hpp"
#include "kernels/gemm_reference.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace composed {

namespace {

/// [M, K] [K, N]
Tensor product(const Tensor& a, const Tensor& b) {
  OpScope op("composed::matmul");
  const Index m = a.dim(0), k = a.dim(1), n = b.dim(1);
  Array y({m, n});
  reference::gemm<Real>(m, n, k, a.value().data(), false, b.value().data(), false, y.data());
  return record(op, y, {a, b},
                [a = a.value(), b = b.value(), m, n, k](const Array& dy, Gradients& into) {
                  Array da({m, k}), db({k, n});
                  reference::gemm<Real>(m, k, n, dy.data(), false, b.data(), true, da.data());
                  reference::gemm<Real>(k, n, m, a.data(), true, dy.data(), false, db.data());
                  into[0] += da;
                  into[1] += db;
                });
}

/// Matrix `index` of [..., M, N].
Tensor matrix_of(const Tensor& x, Index index) {
  const Index m = x.dim(-2), n = x.dim(-1);
  Shape leading = x.shape().without(-1).without(-1);
  const Tensor list = reshape(x, Shape{leading.size(), m, n});
  return reshape(slice(list, 0, index, index + 1), Shape{m, n});
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  if (a.rank() < 2 || b.rank() < 2 || a.dim(-1) != b.dim(-2)) {
    return headroom::matmul(a, b);  // throws the error that both share
  }
  if (a.rank() == 2 && b.rank() == 2) return product(a, b);
  const Shape a_leading = a.shape().without(-1).without(-1);
  const Shape b_leading = b.shape().without(-1).without(-1);
  Shape shape = broadcast("matmul", a_leading, b_leading);
  // No matrices at all: an empty product that still depends on both.
  if (shape.size() == 0) return headroom::matmul(a, b);
  const BroadcastPlan plan = plan_broadcast(shape, {a_leading, b_leading});
  std::vector<Tensor> products;
  BroadcastWalk walk(plan, 0);
  for (Index i = 0; i < shape.size(); ++i, walk.advance(1)) {
    products.push_back(product(matrix_of(a, walk.offset(0)), matrix_of(b, walk.offset(1))));
  }
  shape.push_back(a.dim(-2));
  shape.push_back(b.dim(-1));
  return reshape(concat(products, 0), shape);
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (x.rank() == 0 || weight.rank() != 2 || x.dim(-1) != weight.dim(1)) {
    return headroom::linear(x, weight, bias);  // throws the error that both share
  }
  Index rows = 1;
  for (int axis = 0; axis + 1 < x.rank(); ++axis) rows *= x.dim(axis);
  Tensor y = product(reshape(x, Shape{rows, x.dim(-1)}), transpose(weight));
  if (bias.defined()) y = y + bias;
  return reshape(y, x.shape().with(-1, weight.dim(0)));
}

Tensor linear_side_by_side(const Tensor& x, const std::vector<Tensor>& weights,
                           const std::vector<Tensor>& biases) {
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    outputs.push_back(composed::linear(x, weights[i], biases.empty() ? Tensor() : biases[i]));
  }
  return concat(outputs, -1);
}

}  // namespace composed
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
