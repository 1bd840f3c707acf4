// Takes one step of Muon per tensor and per head in two layouts.
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  const auto apart =
      [](Granularity granularity) {  // after one step of Muon
        const AttentionConfig config{
            .width = 32, .heads = 4, .bias = false};
        Rng rng(1);
        SeparateHeads separate(config, rng);
        FusedHeads fused(config, rng);
        transplant(separate, fused);
        const Tensor x(normal({2, 10, 32}, 1, rng));
        const Array cotangent = normal({2, 10, 32}, 1, rng);
        separate(x, x, AttentionMask::none()).backward(cotangent);
        transplant_gradients(separate, fused);
        Muon(separate, {.granularity = granularity}).step(0.02);
        Muon(fused, {.granularity = granularity}).step(0.02);
        return parameter_distance(separate, fused).largest;
      };
  const double tensor = apart(Granularity::tensor);
  const double head = apart(Granularity::head);
  std::printf("per tensor %.1e, per head %.1e\n", tensor, head);
  return tensor > 1e-3 && head < 1e-4 ? 0 : 1;
}
