// Clips equal gradients in two layouts, per tensor and per head.
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  const auto apart = [](Granularity granularity) {  // of clipped gradients
    const AttentionConfig config{.width = 64, .heads = 8, .bias = false};
    Rng rng(1);
    SeparateHeads separate(config, rng);
    FusedHeads fused(config, rng);
    transplant(separate, fused);
    const Tensor x(normal({2, 10, 64}, 1, rng));
    const Array cotangent = normal({2, 10, 64}, 1, rng);
    separate(x, x, AttentionMask::none()).backward(cotangent);
    transplant_gradients(separate, fused);
    clip_block_norms(separate, 0.1, granularity);
    clip_block_norms(fused, 0.1, granularity);
    return gradient_distance(separate, fused).largest;
  };
  const double tensor = apart(Granularity::tensor);
  const double head = apart(Granularity::head);
  std::printf("per tensor %.1e, per head %.1e\n", tensor, head);
  return tensor > 0.1 && head < 1e-4 ? 0 : 1;
}
