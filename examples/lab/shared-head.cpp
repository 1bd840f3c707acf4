// Changes the input of head 0 except for its own slice of the features.
#include <cmath>
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

Tensor sines(const Shape& shape) {  // the same numbers as in PyTorch
  Array x(shape);
  for (Index i = 0; i < x.size(); ++i) x[i] = Real(std::sin(i * i));
  return Tensor(x);
}

Array head_0(const Tensor& weights, const Tensor& x) {  // of Q, K and V
  const auto part = split(matmul(x, transpose(weights)), {1, 1, 1}, 0);
  const Tensor scores = matmul(part[0], transpose(part[1])) / 4;
  return matmul(softmax(scores), part[2]).value();
}

int main() {
  const Tensor shared = sines({3, 16, 16}) / 8;  // one for all heads
  const Tensor own = sines({3, 16, 64}) / 8;     // 16 rows, only of head 0
  const auto x = split(sines({2, 5, 64}), {1, 1}, 0);
  const Tensor slice_0 = slice(x[0], 2, 0, 16);  // stays as it is
  const Tensor other = concat({slice_0, slice(x[1], 2, 16, 64)}, 2);
  const double small = largest_difference(
      head_0(shared, slice_0), head_0(shared, slice(other, 2, 0, 16)));
  const double large =
      largest_difference(head_0(own, x[0]), head_0(own, other));
  std::printf(
      "head 0 changes by %.3f (shared matrix), %.3f (its own rows)\n",
      small, large);
  return small == 0 && large > 0 ? 0 : 1;
}
