// Checks the function sigmoid that this program was linked with, whoever wrote it.
#include <cmath>
#include <functional>

#include "common/checks.hpp"
#include "headroom/ops/activations.hpp"

namespace {

using headroom::Array;
using headroom::Index;
using headroom::Real;
using headroom::Tensor;

/// Random x and dy, and s = sigmoid(x) by plain loops.
struct Case {
  explicit Case(std::uint64_t seed) {
    headroom::Rng rng(seed);
    x = chapter::random_array({3, 5}, rng);
    dy = chapter::random_array({3, 5}, rng);
    s = Array(x.shape());
    for (Index i = 0; i < x.size(); ++i) s[i] = 1 / (1 + std::exp(-x[i]));
  }
  Array x, s, dy;
};

/// The call goes through the library, which calls whatever sigmoid was linked.
chapter::Call sigmoid_of(const Tensor& x) {
  return [x] { return headroom::activate(headroom::Activation::sigmoid, x); };
}

/// A gradient by its formula for one element, from x, s = sigmoid(x) and dy.
std::function<Array()> gradient(const Case& c, Real (*formula)(Real x, Real s, Real dy)) {
  return [&c, formula] {
    Array dx(c.x.shape());
    for (Index i = 0; i < dx.size(); ++i) dx[i] = formula(c.x[i], c.s[i], c.dy[i]);
    return dx;
  };
}

}  // namespace

TEST_CASE("values: s = 1 / (1 + e^-x)", "[00/sigmoid][values]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    chapter::require_values(sigmoid_of(headroom::parameter(c.x)), c.s);
  }
}

TEST_CASE("gradients: dL/dx = dL/ds s (1 - s)", "[00/sigmoid][gradients]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    const Tensor x = headroom::parameter(c.x);
    const Array right = gradient(c, [](Real, Real s, Real dy) { return dy * s * (1 - s); })();
    chapter::require_gradients(
        sigmoid_of(x), c.dy,
        {{"x",
          x,
          right,
          {{"dy is missing: the gradient of what comes after never gets through",
            gradient(c, [](Real, Real s, Real) { return s * (1 - s); })},
           {"x is used where the formula has s = sigmoid(x)",
            gradient(c, [](Real in, Real, Real dy) { return dy * in * (1 - in); })}}}});
  }
}
