// Compares one Linear per head with one for all heads.
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  const AttentionConfig config{.width = 768, .heads = 12};
  Rng rng(1);
  SeparateHeads many(config, rng);  // one Linear per head
  FusedHeads one(config, rng);      // one Linear for all
  transplant(many, one);            // copies the weights
  const Tensor x(normal({1, 10, 768}, 1, rng));
  const Tensor y = many(x, x, AttentionMask::none());
  const Tensor same = one(x, x, AttentionMask::none());
  const double off = relative_difference(y.value(), same.value());
  std::printf("one Linear against 12: off by %.1e\n", off);
  return off < 1e-4 ? 0 : 1;
}
