// The weights of d2l's exercise: 5 heads, 4 queries, 6 keys, 3 valid.
#include <cmath>
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

Tensor sines(const Shape& shape) {  // the same numbers as in PyTorch
  Array x(shape);
  for (Index i = 0; i < x.size(); ++i) x[i] = Real(std::sin(i * i));
  return Tensor(x);
}

Array weights(const Tensor& X, const Tensor& Y) {
  Rng rng(1);
  FusedHeads attention({.width = 10, .heads = 5, .bias = false}, rng);
  attention.in_proj_weight = sines({30, 10});
  const Ids valid_lens({1}, {3});
  const AttentionAsk ask{.maps = true, .gates = {}};
  const AttentionMask mask = AttentionMask::lengths(valid_lens);
  return attention(X, Y, Y, mask, ask).maps.value();
}

int main() {
  const Array w =
      weights(Tensor(ones({1, 4, 10})), Tensor(ones({1, 6, 10})));
  std::printf("inputs of ones:");  // head 0, for the first query
  for (Index i = 0; i < 6; ++i) std::printf(" %.3f", double(w[i]));
  const Array other = weights(sines({1, 4, 10}), sines({1, 6, 10}));
  std::printf("; other inputs:");
  for (Index i = 0; i < 6; ++i) std::printf(" %.3f", double(other[i]));
  std::printf("\n");
  return w[2] > 0.3 && w[3] == 0 ? 0 : 1;
}
