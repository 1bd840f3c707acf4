// Unfused versions of the activations and of mean: other operations only.
#include <numbers>

#include "headroom/base/error.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/composed.hpp"
#include "headroom/ops/reductions.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace composed {

Tensor relu(const Tensor& x) {
  Bytes positive(x.shape());
  for (Index i = 0; i < x.size(); ++i) positive[i] = x.value()[i] > 0 ? 1 : 0;
  return where(positive, x, Tensor(Real(0)));
}

Tensor gelu_tanh(const Tensor& x) {
  const Real k = Real(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
  const Tensor u = (x + pow(x, Real(3)) * Real(0.044715)) * k;
  return x * (tanh(u) + Real(1)) / Real(2);
}

Tensor silu(const Tensor& x) { return x * composed::sigmoid(x); }

Tensor sigmoid(const Tensor& x) { return Real(1) / (exp(-x) + Real(1)); }

Tensor mean(const Tensor& x, const std::vector<int>& axes, bool keep) {
  const Tensor total = sum(x, axes, keep);
  const Tensor count = sum(Tensor(ones(x.shape())), axes, keep);
  for (const Real n : count.value().span()) {
    if (n == 0) throw ShapeError("mean: nothing to reduce in shape " + x.shape().text());
  }
  return total / count;
}

}  // namespace composed
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
