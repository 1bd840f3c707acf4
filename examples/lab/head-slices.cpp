// Adds up BERT's heads: 64 features of Q, K and V each, and 64 columns.
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
  FusedHeads bert({.width = 768, .heads = 12, .bias = false}, rng);
  bert.in_proj_weight = sines({3 * 768, 768}) / 16;
  const Tensor w_o = bert.out_proj.weight = sines({768, 768}) / 16;
  const Tensor x = sines({1, 10, 768}), w = bert.in_proj_weight;
  const auto parts = split(linear(x, w), std::vector<Index>(36, 64), 2);
  const auto columns = split(w_o, std::vector<Index>(12, 64), 1);
  Tensor sum(zeros({1, 10, 768}));
  for (unsigned h = 0; h < 12; ++h) {
    const Tensor scores = matmul(parts[h], transpose(parts[12 + h])) / 8;
    const Tensor head = matmul(softmax(scores), parts[24 + h]);
    sum = sum + linear(head, columns[h]);
  }
  const Tensor y = bert(x, x, AttentionMask::none());
  const double off = largest_difference(y.value(), sum.value());
  std::printf("layer %.3f, sum of 12 heads %.3f, difference %.3f\n",
              double(y.value()[0]), double(sum.value()[0]), off);
  return off < 1e-3 ? 0 : 1;
}
