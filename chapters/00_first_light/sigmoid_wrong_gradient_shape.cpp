// A wrong answer: the gradient is one long row.
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
    Array dx({dy.size()});
    for (Index i = 0; i < dx.size(); ++i) {
      dx[i] = dy[i] * y[i] * (1 - y[i]);
    }
    into[0] += dx;
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
