// Trains a layer whose head 1 starts as a copy of head 0.
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  const AttentionConfig config{.width = 32, .heads = 4, .bias = false};
  Rng rng(1);
  SeparateHeads layer(config, rng);
  for (auto* role : {&layer.query, &layer.key, &layer.value}) {
    copy_parameters(*role->at(0), *role->at(1));  // head 1 becomes head 0
  }
  const Tensor w = layer.out.weight;
  layer.out.weight.set_value(
      concat({slice(w, 1, 0, 8), slice(w, 1, 0, 8), slice(w, 1, 16, 32)}, 1)
          .value());
  Sgd sgd(layer);
  for (int step = 0; step < 50; ++step) {
    const Tensor x(normal({4, 10, 32}, 1, rng));
    sgd.zero_grad();
    squared_error(layer(x, x, AttentionMask::none()), x).backward();
    sgd.step(0.1);
  }
  const double off = relative_difference(layer.query[0]->weight.value(),
                                         layer.query[1]->weight.value());
  std::printf("after 50 steps the twins differ by %.1e\n", off);
  return off < 1e-4 ? 0 : 1;
}
