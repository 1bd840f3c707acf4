// Derives one attention weight with respect to all scores.
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  Rng rng(1);
  const Tensor scores = parameter(normal({2, 3}, 1, rng));
  const Tensor p = softmax(scores);
  Array pick = zeros({2, 3});
  pick[0] = 1;  // of row 0, key 0
  p.backward(pick);
  const Array d = scores.grad(), w = p.value();
  std::printf("row 0: %.3f = p (1 - p), row 1: %.3f %.3f %.3f\n",
              double(d[0]), double(d[3]), double(d[4]), double(d[5]));
  const double off = double(d[0] - w[0] * (1 - w[0]));
  return off * off < 1e-12 && d[3] == 0 && d[4] == 0 && d[5] == 0 ? 0 : 1;
}
