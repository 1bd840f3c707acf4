// Draws another key bias, which does not change the output.
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  Rng rng(1);
  FusedHeads layer({.width = 64, .heads = 4}, rng);
  const Tensor x(normal({1, 10, 64}, 1, rng));
  const Array before = layer(x, x, AttentionMask::none()).value();
  Array bias = layer.in_proj_bias.value().clone();
  for (Index i = 64; i < 128; ++i) bias[i] = rng.normal();  // b_K
  layer.in_proj_bias.set_value(bias);
  const Array after = layer(x, x, AttentionMask::none()).value();
  const double off = relative_difference(before, after);
  std::printf("another key bias changes the output by %.1e\n", off);
  return off < 1e-4 ? 0 : 1;
}
