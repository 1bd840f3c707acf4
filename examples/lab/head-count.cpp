// Compares one head with two of the same parameters.
#include <cmath>
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

Tensor sines(const Shape& shape) {  // the same numbers as in PyTorch
  Array x(shape);
  for (Index i = 0; i < x.size(); ++i) x[i] = Real(std::sin(i * i));
  return Tensor(x);
}

int main() {
  Rng rng(1);
  FusedHeads one({.width = 512, .heads = 1}, rng);
  FusedHeads two({.width = 512, .heads = 2}, rng);
  const Tensor x = sines({1, 12, 512});
  const auto output = [&](FusedHeads& layer, const Tensor& w) {
    layer.in_proj_weight = slice(w, 0, 0, 1536);
    layer.out_proj.weight = slice(w, 0, 1536, 2048);
    return layer(x, x, AttentionMask::none()).value();
  };
  const Tensor w = sines({2048, 512}) / 16, of_ones(ones({2048, 512}));
  const double off = largest_difference(output(one, w), output(two, w));
  const double off_ones =
      largest_difference(output(one, of_ones), output(two, of_ones));
  std::printf(
      "parameters %d and %d; difference %.3f, for weights of 1: %.3f\n",
      int(count_parameters(one)), int(count_parameters(two)), off,
      off_ones);
  return off > 0.1 ? 0 : 1;
}
