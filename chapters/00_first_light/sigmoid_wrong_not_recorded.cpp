// A wrong answer: the value is right and is not on the tape.
#include <cmath>

#include "sigmoid.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor sigmoid(const Tensor& x) {
  Array y(x.shape());
  for (Index i = 0; i < y.size(); ++i) {
    y[i] = 1 / (1 + std::exp(-x.value()[i]));
  }
  return Tensor(y);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
