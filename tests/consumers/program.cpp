// A user's program: one linear layer and its gradient, compared with plain loops.
#include <cmath>
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  Rng rng(7);
  Array x_values({4, 3}), w_values({2, 3});
  for (Real& value : x_values.span()) value = rng.normal();
  for (Real& value : w_values.span()) value = rng.normal();
  const Tensor x = parameter(x_values.clone()), w = parameter(w_values.clone());
  const Tensor y = tanh(linear(x, w));
  sum(y).backward();

  double worst = 0;
  for (Index t = 0; t < 4; ++t) {
    for (Index f = 0; f < 2; ++f) {
      double expected = 0;
      for (Index c = 0; c < 3; ++c) expected += double(x_values[t * 3 + c] * w_values[f * 3 + c]);
      worst = std::max(worst, std::abs(std::tanh(expected) - double(y.value()[t * 2 + f])));
    }
    for (Index c = 0; c < 3; ++c) {
      double expected = 0;
      for (Index f = 0; f < 2; ++f) {
        const double value = double(y.value()[t * 2 + f]);
        expected += (1 - value * value) * double(w_values[f * 3 + c]);
      }
      worst = std::max(worst, std::abs(expected - double(x.grad()[t * 3 + c])));
    }
  }
  std::printf("Real has %d bytes, worst difference %.1e\n", int(sizeof(Real)), worst);
  if (sizeof(Real) != EXPECTED_BYTES) return 2;
  return worst < (is_double ? 1e-12 : 1e-5) ? 0 : 1;
}
