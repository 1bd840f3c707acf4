// A wrong answer: the gradient is computed and never added.
#include <cmath>

#include "sigmoid.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor sigmoid(const Tensor& x) {
  OpScope op("sigmoid");
  Array y(x.shape());
  for (Index i = 0; i < y.size(); ++i) {
    y[i] = 1 / (1 + std::exp(-x.value()[i]));
  }
  return record(op, y, {x}, [y](const Array& dy, Gradients&) {
    Array dx(dy.shape());
    for (Index i = 0; i < dx.size(); ++i) {
      dx[i] = dy[i] * y[i] * (1 - y[i]);
    }
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
