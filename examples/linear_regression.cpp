// Linear regression: the smallest training loop. A Linear finds the plane behind noisy points.
#include <cmath>
#include <cstdio>

#include "headroom/nn/linear.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/sgd.hpp"

using namespace headroom;

int main() {
  // 200 points of y = 2 a - 3 b + 1, with a little noise.
  const Index points = 200;
  Rng rng(1, "data");
  Array inputs({points, 2}), outputs({points, 1});
  for (Index i = 0; i < points; ++i) {
    const Real a = rng.normal(), b = rng.normal();
    inputs[2 * i] = a;
    inputs[2 * i + 1] = b;
    outputs[i] = 2 * a - 3 * b + 1 + Real(0.1) * rng.normal();
  }
  const Tensor x = constant(inputs), y = constant(outputs);

  Rng init(1, "init");
  Linear plane(2, 1, init);
  Sgd optimizer(plane);
  for (int step = 0; step <= 100; ++step) {
    const Tensor loss = squared_error(plane(x), y);
    if (step % 20 == 0) std::printf("step %3d  loss %.5f\n", step, double(loss.item()));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step(0.1);
  }

  const Array& w = plane.weight.value();
  const auto a = double(w[0]), b = double(w[1]);
  const auto c = double(plane.bias.value()[0]);
  std::printf("y = %.2f a %+.2f b %+.2f\n", a, b, c);
  const bool found = std::abs(a - 2) < 0.05 && std::abs(b + 3) < 0.05 && std::abs(c - 1) < 0.05;
  return found ? 0 : 1;
}
