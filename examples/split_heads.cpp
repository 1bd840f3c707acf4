// Split heads: BERT's 768 x 768 query, key, value and output matrices as twelve heads of 64.
#include <cmath>
#include <cstdio>

#include "headroom/nn/init.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/surgery/transplant.hpp"

using namespace headroom;

int main() {
  const Index width = 768, heads = 12, d = width / heads;
  Rng rng(1, "init");
  const auto layer = make_attention(Layout::fused, {.width = width, .heads = heads}, rng);
  const Tensor x(normal({1, 10, width}, 1, rng));
  const auto named = parameters(*layer);  // in_proj_weight, in_proj_bias, out_proj.weight, .bias
  const Tensor in = named[0].tensor, in_bias = named[1].tensor;

  Tensor y = named[3].tensor;  // the output bias belongs to no head
  for (Index h = 0; h < heads; ++h) {
    const auto part = [&](Index third) {          // query, key, value of head h alone
      const Index begin = third * width + h * d;  // rows [64 h, 64 h + 64) of each
      return linear(x, slice(in, 0, begin, begin + d), slice(in_bias, 0, begin, begin + d));
    };
    const Tensor scores = matmul(part(0), transpose(part(1))) / std::sqrt(Real(d));
    const Tensor attended = matmul(softmax(scores), part(2));
    y = y + linear(attended, slice(named[2].tensor, 1, h * d, (h + 1) * d));  // its columns
  }
  const Tensor whole = (*layer)(x, x, AttentionMask::none());
  const double apart = relative_difference(whole.value(), y.value());
  std::printf("12 heads of 64 against one layer of 768: relative difference %.1e\n", apart);
  return apart < 1e-5 ? 0 : 1;
}
