// Measures Xavier's variance of W_Q under three policies.
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  const Index width = 512, heads = 8;
  const auto variance = [&](FanPolicy policy) {  // of W_Q, times the width
    Rng rng(1);
    const SeparateHeads layer(
        {.width = width, .heads = heads, .init = policy}, rng);
    const Tensor& w = layer.query[0]->weight;
    return double(mean(w * w).item()) * width;
  };
  const double packed = variance(FanPolicy::packed);
  const double per_head = variance(FanPolicy::per_head);
  std::printf("packed %.2f, per matrix %.2f, per head %.2f\n", packed,
              variance(FanPolicy::per_matrix), per_head);
  return per_head > 3 * packed ? 0 : 1;
}
