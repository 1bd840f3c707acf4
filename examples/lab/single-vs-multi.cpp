// Adds up eight heads' scores to those of a single head.
#include <cmath>
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  const Index width = 512, heads = 8, d = width / heads;
  Rng rng(1);
  const Tensor x(normal({10, width}, 1, rng));
  const auto weight = [&] {
    return Tensor(normal({width, width}, 1 / std::sqrt(Real(width)), rng));
  };
  const Tensor q = matmul(x, weight()), k = matmul(x, weight());
  const auto scores = [](const Tensor& a, const Tensor& b) {
    return matmul(a, transpose(b)) / std::sqrt(Real(a.dim(-1)));
  };
  Tensor sum(zeros({10, 10}));
  for (Index h = 0; h < heads; ++h) {
    sum = sum + scores(slice(q, 1, h * d, (h + 1) * d),
                       slice(k, 1, h * d, (h + 1) * d));
  }
  const Tensor single = scores(q, k), multi = sum / std::sqrt(Real(heads));
  const double off = relative_difference(single.value(), multi.value());
  std::printf("one head's scores are a sum of 8 heads': off by %.1e\n",
              off);
  return off < 1e-4 ? 0 : 1;
}
