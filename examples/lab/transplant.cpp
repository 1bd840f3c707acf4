// Compares the gradients of two layouts with the same heads.
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  const AttentionConfig config{.width = 64, .heads = 8};
  Rng rng(1);
  SeparateHeads separate(config, rng);
  FusedHeads fused(config, rng);
  transplant(separate, fused);
  const Tensor x(normal({2, 10, 64}, 1, rng));
  const Array cotangent = normal({2, 10, 64}, 1, rng);
  separate(x, x, AttentionMask::none()).backward(cotangent);
  fused(x, x, AttentionMask::none()).backward(cotangent);
  const double off = gradient_distance(separate, fused).largest;
  std::printf("gradients of the two layouts: off by %.1e\n", off);
  return off < 1e-3 ? 0 : 1;
}
