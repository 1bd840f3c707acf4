// A wrong answer: it ends with an exception that has no type of its own.
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
  return record(op, y, {x}, [y](const Array& dy, Gradients& into) {
    Array dx(dy.shape());
    for (Index i = 0; i < dx.size(); ++i) {
      dx[i] = dy[i] * y[i] * (1 - y[i]);
    }
    if (dx.size() > 0) throw dx.size();
    into[0] += dx;
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
