// Newton and Schulz's iteration.
#include "headroom/optim/orthogonalise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/ops/matmul.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// a x + b y
Array weighted_sum(double a, const Array& x, double b, const Array& y) {
  Array result(x.shape());
  std::ranges::transform(x.span(), y.span(), result.data(),
                         [p = Real(a), q = Real(b)](Real u, Real v) { return p * u + q * v; });
  return result;
}

}  // namespace

Array orthogonalised(const Array& matrix, int iterations) {
  if (matrix.rank() != 2) {
    throw ShapeError(fmt::format("orthogonalised: {} is not a matrix", matrix.shape().text()));
  }
  const NoGrad numbers_only;
  double squares = 0;
  for (const Real x : matrix.span()) squares += double(x) * double(x);
  const bool tall = matrix.dim(0) > matrix.dim(1);
  Array x = tall ? transposed(matrix) : matrix;
  x = weighted_sum(1 / (std::sqrt(squares) + 1e-7), x, 0, x);
  for (int i = 0; i < iterations; ++i) {
    const Array a = linear(Tensor(x), Tensor(x)).value();  // X X^T
    x = weighted_sum(3.4445, x, 1, matmul(weighted_sum(-4.7750, a, 2.0315, matmul(a, a)), x));
  }
  return tall ? transposed(x) : x;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
