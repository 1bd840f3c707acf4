// XOR, which no single Linear can compute. Two Linears with a tanh between them, as a user-defined
// Module.
#include <cstdio>

#include "headroom/nn/linear.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/adam.hpp"

using namespace headroom;

/// sigmoid(second(tanh(first(x)))), 2 -> 8 -> 1.
class Bend : public Module {
 public:
  explicit Bend(Rng& rng) : first(2, 8, rng), second(8, 1, rng) {}
  Tensor operator()(const Tensor& x) const { return sigmoid(second(tanh(first(x)))); }
  void members(Members& visit) override {
    visit("first", first);
    visit("second", second);
  }
  std::string title() const override { return "Bend"; }

  Linear first, second;
};

int main() {
  const Tensor x = constant(Array({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1}));
  const Tensor y = constant(Array({4, 1}, {0, 1, 1, 0}));
  Rng rng(1, "init");
  Bend model(rng);
  std::printf("%s", describe(model).c_str());

  Adam optimizer(model);
  for (int step = 0; step <= 400; ++step) {
    const Tensor loss = squared_error(model(x), y);
    if (step % 100 == 0) std::printf("step %3d  loss %.5f\n", step, double(loss.item()));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step(0.03);
  }

  bool right = true;
  const Tensor answers = model(x);
  for (Index i = 0; i < 4; ++i) {
    const auto a = int(x.value()[2 * i]), b = int(x.value()[2 * i + 1]);
    const auto answer = double(answers.value()[i]);
    std::printf("%d xor %d = %.3f\n", a, b, answer);
    right = right && (answer > 0.5) == ((a ^ b) == 1);
  }
  return right ? 0 : 1;
}
