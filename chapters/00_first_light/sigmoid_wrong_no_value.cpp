// A wrong answer: nothing is returned.
#include <cmath>

#include "sigmoid.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor sigmoid(const Tensor& x) {
  Array y(x.shape());
  for (Index i = 0; i < y.size(); ++i) {
    y[i] = 1 / (1 + std::exp(-x.value()[i]));
  }
  return {};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
