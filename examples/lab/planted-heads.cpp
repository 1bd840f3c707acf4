// Plants a head that reads the token before beside a random one.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  const Index d = 8, c = 16;  // features: letter, then position
  Rng rng(1);
  FusedHeads layer({.width = c, .heads = 2, .bias = false}, rng);
  Array in = normal({3 * c, c}, 1, rng), out = normal({c, c}, 0.25, rng);
  for (Index row = 0; row < 3 * c; ++row) {  // W_Q, W_K, W_V
    const Real size = row < 2 * c ? 8 : 1;
    const Index i = row % c;
    for (Index j = 0; j < c; ++j) {
      const Index reads = row < c       ? d + i            // position
                          : row < 2 * c ? d + (i + 7) % d  // i - 1
                                        : i;               // letter
      Real& w = in[row * c + j];
      w = i < d ? (j == reads ? size : 0) : w * size / 4;
    }
  }
  for (Index k = 0; k < c * d; ++k) {  // head 0 has columns 0 to 7 of W_O
    out[k / d * c + k % d] = k / d == k % d ? 1 : 0;
  }
  layer.in_proj_weight.set_value(in);
  layer.out_proj.weight.set_value(out);
  Array x = zeros({50, d, c});
  for (Index t = 0; t < 50 * d; ++t) {
    x[t * c + rng.below(d)] = x[t * c + d + t % d] = 1;
  }
  const auto accuracy = [&](Real planted, Real noise) {
    AttentionAsk ask;
    ask.gates = Tensor(Array({2}, {planted, noise}));
    const Tensor input(x);
    const AttentionMask causal = AttentionMask::causal();
    const Array y = layer(input, input, input, causal, ask).y.value();
    int right = 0;
    for (Index t = 0; t < 50 * d; ++t) {
      if (t % d == 0) continue;  // no token is before
      const Real* const row = y.data() + t * c;
      const Index letter = std::max_element(row, row + d) - row;
      right += x[(t - 1) * c + letter] == 1 ? 1 : 0;
    }
    return right / (50.0 * (d - 1));
  };
  const double all = accuracy(1, 1), without = accuracy(0, 1);
  std::printf("accuracy %.2f, without the planted head %.2f\n", all,
              without);
  return all > 0.9 && without < 0.4 ? 0 : 1;
}
