// Compares a gate's gradient with the inner product of W_O and its own.
#include <cmath>
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  Rng rng(1);
  const FusedHeads layer({.width = 64, .heads = 4}, rng);
  const Tensor x(normal({1, 10, 64}, 1, rng));
  const Tensor gates = parameter(ones({4}));
  const AttentionAsk ask{.gates = gates};
  const Tensor y = layer(x, x, x, AttentionMask::none(), ask).y;
  y.backward(normal({1, 10, 64}, 1, rng));
  const Tensor w = layer.out_proj.weight;  // head 0 has columns 0 to 15
  const Tensor both = slice(w * Tensor(w.grad()), 1, 0, 16);
  const auto by_output = double(sum(both).item()),
             by_gate = double(gates.grad()[0]);
  std::printf("<W_O, dL/dW_O> %.6f, dL/dg %.6f\n", by_output, by_gate);
  return std::abs(by_output - by_gate) < 1e-3 ? 0 : 1;
}
