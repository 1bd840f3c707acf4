// Changes the other heads' slices of the input of head 0.
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  const AttentionConfig config{.width = 64, .heads = 4, .bias = false};
  Rng rng(1);
  const SharedHead small(config, rng);  // one 16 x 16 matrix for all heads
  const FusedHeads fused(config, rng);  // 16 rows of a 64 x 64 one for each
  const Tensor x(normal({1, 5, 64}, 1, rng));
  const Tensor slice_0 = slice(x, 2, 0, 16);
  const Tensor other =
      concat({slice_0, Tensor(normal({1, 5, 48}, 1, rng))}, 2);
  const auto head_0 = [](const Attention& layer, const Tensor& input) {
    const AttentionAsk ask{.head_out = true, .gates = {}};
    const AttentionMask all = AttentionMask::none();
    return slice(layer(input, input, input, all, ask).head_out, 1, 0, 1);
  };
  const auto change = [&](const Attention& layer) {
    return largest_difference(head_0(layer, x).value(),
                              head_0(layer, other).value());
  };
  std::printf("head 0 changes by %.2g (shared), %.2g (fused)\n",
              change(small), change(fused));
  return change(small) == 0 && change(fused) > 0 ? 0 : 1;
}
