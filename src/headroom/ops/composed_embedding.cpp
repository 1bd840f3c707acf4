// Embedding and dropout, composed of other operations.
#include "headroom/ops/composed.hpp"
#include "headroom/ops/ops.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace composed {

Tensor embedding(const Tensor& table, const Ids& ids) {
  Shape shape = ids.shape();
  shape.push_back(table.dim(-1));
  return reshape(gather(table, 0, ids.reshaped(Shape{ids.size()})), shape);
}

Tensor dropout(const Tensor& x, Real p, const MaskStream& stream) {
  if (p == 0) return x;
  Bytes keep(x.shape());
  for (Index e = 0; e < keep.size(); ++e) {
    keep[e] = Real(stream.uniform(e)) >= p ? 1 : 0;
  }
  const Tensor zero(Real(0));
  return p == 1 ? x * Real(0) : where(keep, x / (1 - p), zero);
}

}  // namespace composed
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
