// Trains heads, and compares the slopes of their gates with removal costs.
#include <cmath>
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  const AttentionConfig config{.width = 16, .heads = 4};
  Rng rng(1);
  const FusedHeads teacher(config, rng);
  FusedHeads layer(config, rng);
  const Tensor x(normal({8, 6, 16}, 1, rng));
  const AttentionMask all = AttentionMask::none();
  const Tensor target(teacher(x, x, all).value());
  const auto loss = [&](const Array& gates, Tensor& g) {
    const AttentionAsk ask{.gates = g = parameter(gates)};
    return squared_error(layer(x, x, x, all, ask).y, target);
  };
  const auto slope_and_cost = [&] {  // means over the heads
    Tensor g, unused;
    const Tensor whole = loss(ones({4}), g);
    whole.backward();
    double slope = 0, cost = 0;
    for (Index head = 0; head < 4; ++head) {
      Array gates = ones({4});
      gates[head] = 0;
      slope += std::abs(double(g.grad()[head])) / 4;
      cost += double(loss(gates, unused).item() - whole.item()) / 4;
    }
    std::printf("slope %.2g, removal cost %.2g\n", slope, cost);
    return cost / slope;
  };
  const double before = slope_and_cost();
  AdamW adam(layer, {.weight_decay = 0});
  for (int step = 0; step < 300; ++step) {
    zero_grad(layer);
    squared_error(layer(x, x, all), target).backward();
    adam.step(0.01);
  }
  const double after = slope_and_cost();
  return std::abs(after) > 10 * std::abs(before) ? 0 : 1;
}
