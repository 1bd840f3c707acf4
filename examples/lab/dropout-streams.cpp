// Runs two layouts with dropout and the same seed.
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  const AttentionConfig config{
      .width = 64, .heads = 4, .dropout = Real(0.5)};
  Rng rng(1);
  SeparateHeads separate(config, rng);
  FusedHeads fused(config, rng);
  transplant(separate, fused);
  separate.name_streams();
  fused.name_streams();
  const Tensor x(normal({1, 10, 64}, 1, rng));
  const RandomStep random(1, 0);  // seed 1, step 0: the same masks in both
  const Tensor a = separate(x, x, AttentionMask::none());
  const Tensor b = fused(x, x, AttentionMask::none());
  const double off = relative_difference(a.value(), b.value());
  std::printf("with dropout 0.5 the layouts differ by %.1e\n", off);
  return off < 1e-4 ? 0 : 1;
}
