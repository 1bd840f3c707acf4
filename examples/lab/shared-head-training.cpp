// Trains own rows and one shared matrix to imitate the same layer.
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  const AttentionConfig config{.width = 16, .heads = 4};
  Rng rng(1);
  const FusedHeads teacher(config, rng);
  FusedHeads own(config, rng);
  SharedHead shared(config, rng);
  const auto error_of = [&](Attention& layer) {  // after 600 steps
    AdamW adam(layer, {.weight_decay = 0});
    Rng data(2);
    double error = 0;
    for (int step = 0; step < 600; ++step) {
      const Tensor x(normal({8, 6, 16}, 1, data));
      const AttentionMask all = AttentionMask::none();
      const Tensor target(teacher(x, x, all).value());
      zero_grad(layer);
      const Tensor loss = squared_error(layer(x, x, all), target);
      error = double(loss.item());
      loss.backward();
      adam.step(0.01);
    }
    return error;
  };
  const double of_own = error_of(own), of_shared = error_of(shared);
  std::printf("own rows: %d parameters, error %.2g\n",
              int(count_parameters(own)), of_own);
  std::printf("shared:   %d parameters, error %.2g\n",
              int(count_parameters(shared)), of_shared);
  return of_shared > 1.5 * of_own ? 0 : 1;
}
