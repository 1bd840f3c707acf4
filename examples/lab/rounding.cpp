// Compares the gradient of the input in two layouts.
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  const AttentionConfig config{.width = 32, .heads = 4};
  Rng rng(1);
  SeparateHeads separate(config, rng);
  FusedHeads fused(config, rng);
  transplant(separate, fused);
  const Tensor input(normal({4, 12, 32}, 1, rng));
  const Array cotangent = normal({4, 12, 32}, 1, rng);
  const auto input_gradient = [&](const Attention& layer) {
    const Tensor x = parameter(input.value().clone());
    layer(x, x, AttentionMask::none()).backward(cotangent);
    return x.grad();
  };
  const double off =
      relative_difference(input_gradient(separate), input_gradient(fused));
  std::printf("dX as 12 small products or as one: off by %.1e\n", off);
  return 0 < off && off < 1e-3 ? 0 : 1;
}
