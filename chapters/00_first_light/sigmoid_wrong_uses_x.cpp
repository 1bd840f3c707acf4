// A wrong answer: s (1 - s) with the input in place of the output.
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
  return record(op, y, {x}, [x = x.value()](const Array& dy, Gradients& into) {
    Array dx(dy.shape());
    for (Index i = 0; i < dx.size(); ++i) {
      dx[i] = dy[i] * x[i] * (1 - x[i]);
    }
    into[0] += dx;
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
