// Exercise sigmoid: two lines are yours.
#include <cmath>

#include "sigmoid.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor sigmoid(const Tensor& x) {
  OpScope op("sigmoid");
  Array y(x.shape());
  for (Index i = 0; i < y.size(); ++i) {
    y[i] = chapter::todo("the value");  // TODO: 1 / (1 + e^-x)
  }
  return record(op, y, {x}, [y](const Array& dy, Gradients& into) {
    Array dx(dy.shape());
    for (Index i = 0; i < dx.size(); ++i) {
      dx[i] = chapter::todo("the gradient");  // TODO: from dy[i] and y[i]
    }
    into[0] += dx;
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
