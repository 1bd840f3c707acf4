// The logistic function, in a separate file: the shortest example of an operation.
#include "array/map.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/ops/activations.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor sigmoid(const Tensor& x) {
  OpScope op("sigmoid");
  Array y = map([](const auto& v) { return Real(1) / (Real(1) + xt::exp(-v)); }, x.value());
  return record(op, y, {x}, [y](const Array& dy, Gradients& into) {
    // s' = s (1 - s)
    into[0] += map([](const auto& d, const auto& s) { return d * s * (Real(1) - s); }, dy, y);
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
