// Times forward and backward passes of two layouts.
#include <chrono>
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  const AttentionConfig config{.width = 256, .heads = 8};
  Rng rng(1);
  SeparateHeads separate(config, rng);
  FusedHeads fused(config, rng);
  const Tensor x(normal({8, 32, 256}, 1, rng));
  const Array cotangent = normal({8, 32, 256}, 1, rng);
  const auto seconds = [&](const Attention& layer) {
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i) {
      layer(x, x, AttentionMask::none()).backward(cotangent);
    }
    const auto ended = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(ended - began).count();
  };
  const double ratio = seconds(separate) / seconds(fused);
  std::printf("separate heads take %.2f times as long\n", ratio);
  return ratio > 0 ? 0 : 1;
}
