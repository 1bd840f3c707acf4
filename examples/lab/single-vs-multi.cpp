// Compares one head of 512 features with 8 heads of 64.
#include <cmath>
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

Tensor sines(const Shape& shape) {  // the same numbers as in PyTorch
  Array x(shape);
  for (Index i = 0; i < x.size(); ++i) x[i] = Real(std::sin(i * i));
  return Tensor(x);
}

Array attention(const Tensor& x, const Tensor& weights, Index h) {
  const Tensor qkv = reshape(matmul(x, weights), {3, 10, h, 512 / h});
  const auto part = split(permute(qkv, {0, 2, 1, 3}), {1, 1, 1}, 0);
  const Real root_d = std::sqrt(Real(512) / Real(h));
  const Tensor scores = matmul(part[0], transpose(part[1])) / root_d;
  return permute(matmul(softmax(scores), part[2]), {0, 2, 1, 3}).value();
}

double difference(const Tensor& x, const Tensor& weights) {
  const Array one = attention(x, weights, 1);
  const Array eight = attention(x, weights, 8);
  return largest_difference(one.reshaped(eight.shape()), eight);
}

int main() {
  const Tensor x = sines({10, 512}), weights = sines({3, 512, 512});
  const double hidden = difference(abs(x), abs(weights));
  const double off = difference(x, weights / 16);
  std::printf("difference %.3f (positive weights), %.3f (both signs)\n",
              hidden, off);
  return hidden < 1e-3 && off > 0.1 ? 0 : 1;
}
