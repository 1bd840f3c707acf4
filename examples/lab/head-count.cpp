// Compares one head with two of the same parameters.
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  Rng rng(1);
  FusedHeads one({.width = 512, .heads = 1}, rng);
  FusedHeads two({.width = 512, .heads = 2}, rng);
  copy_parameters(one, two);
  const bool same_size = count_parameters(one) == count_parameters(two);
  const Tensor x(normal({1, 10, 512}, 1, rng));
  const Tensor y_1 = one(x, x, AttentionMask::none());
  const Tensor y_2 = two(x, x, AttentionMask::none());
  const double off = relative_difference(y_1.value(), y_2.value());
  std::printf("%s number of parameters, outputs differ by %.2f\n",
              same_size ? "same" : "another", off);
  return same_size && off > 0.01 ? 0 : 1;
}
