// Softmax and its relatives, composed of other operations.
#include <limits>

#include "headroom/ops/composed.hpp"
#include "headroom/ops/ops.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace composed {

namespace {

/// The largest of each row, as a constant: softmax does not change when a row is shifted.
Tensor row_max(const Tensor& x) {
  if (x.dim(-1) == 0) return constant(zeros(x.shape().with(-1, 1)));
  return headroom::max(x.detach(), {-1}, true);
}

}  // namespace

Tensor softmax(const Tensor& x) {
  const Tensor e = exp(x - row_max(x));
  return e / sum(e, {-1}, true);
}

Tensor log_softmax(const Tensor& x) {
  const Tensor shifted = x - row_max(x);
  return shifted - log(sum(exp(shifted), {-1}, true));
}

Tensor masked_softmax(const Tensor& x, const Bytes& allowed) {
  const Tensor lowest(std::numeric_limits<Real>::lowest()), zero(Real(0));
  const Tensor shift = row_max(where(allowed, x, lowest));
  const Tensor e = where(allowed, exp(where(allowed, x, shift) - shift), zero);
  // The largest allowed entry adds e^0 = 1, so a sum below 1/2 means that nothing is allowed.
  return e / maximum(sum(e, {-1}, true), Tensor(Real(0.5)));
}

}  // namespace composed
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
