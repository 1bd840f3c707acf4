// Prints the weights of the exercise in d2l, section 11.5.
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  Rng rng(1);
  const FusedHeads layer({.width = 10, .heads = 5, .bias = false}, rng);
  const Tensor x(ones({1, 4, 10})), y(ones({1, 6, 10}));
  const Ids valid_lens({1}, {3});
  const AttentionAsk ask{.maps = true, .gates = {}};
  const AttentionMask mask = AttentionMask::lengths(valid_lens);
  const Array weights = layer(x, y, y, mask, ask).maps.value();
  for (Index key = 0; key < 6; ++key) {  // of head 0's first query
    std::printf("%.2f ", double(weights[key]));
  }
  std::printf("\n");
  return weights[2] > 0.3 && weights[3] == 0 ? 0 : 1;
}
