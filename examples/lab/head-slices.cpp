// Computes BERT's heads alone, from their rows and columns.
#include <cmath>
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  const Index width = 768, heads = 12, d = width / heads;
  Rng rng(1);
  const FusedHeads bert({.width = width, .heads = heads, .bias = false},
                        rng);
  const Tensor x(normal({1, 10, width}, 1, rng));
  Tensor sum(zeros({1, 10, width}));
  for (Index h = 0; h < heads; ++h) {
    const auto part =
        [&](Index third) {  // Q, K or V from head h's rows alone
          const Index begin = third * width + h * d;
          return linear(x, slice(bert.in_proj_weight, 0, begin, begin + d));
        };
    const Tensor scores = matmul(part(0), transpose(part(1)));
    const Tensor a = matmul(softmax(scores / std::sqrt(Real(d))), part(2));
    sum =
        sum + linear(a, slice(bert.out_proj.weight, 1, h * d, (h + 1) * d));
  }
  const Tensor whole = bert(x, x, AttentionMask::none());
  const double off = relative_difference(whole.value(), sum.value());
  std::printf("12 heads from their rows and columns: off by %.1e\n", off);
  return off < 1e-4 ? 0 : 1;
}
