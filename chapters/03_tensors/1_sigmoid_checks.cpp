// Checks the library's sigmoid, whoever wrote it. The call goes through the library.
#include <cmath>

#include "common/checks.hpp"
#include "headroom/ops/activations.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library

const chapter::Names names{{"row", "column"}, {}};

/// Random x and dy, and s = sigmoid(x) by plain loops.
struct Case {
  explicit Case(std::uint64_t seed) {
    Rng rng(seed, "03/1");
    x = chapter::random_array({3, 5}, rng);
    dy = chapter::random_array({3, 5}, rng);
    s = Array(x.shape());
    for (Index i = 0; i < x.size(); ++i) s[i] = 1 / (1 + std::exp(-x[i]));
  }
  chapter::Call call(const Tensor& input) const {
    return [input] { return activate(Activation::sigmoid, input); };
  }
  /// An array by its formula for one element.
  std::function<Array()> each(Real (*formula)(Real x, Real s, Real dy)) const {
    return [*this, formula] {
      Array result(x.shape());
      for (Index i = 0; i < result.size(); ++i) result[i] = formula(x[i], s[i], dy[i]);
      return result;
    };
  }

  Array x, s, dy;
};

}  // namespace

TEST_CASE("values: s = 1 / (1 + e^-x)", "[03/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    chapter::require_values(
        c.call(parameter(c.x)), c.s, names,
        {{"the minus sign in e^-x is missing", c.each([](Real, Real s, Real) { return 1 - s; })}});
  }
}

TEST_CASE("gradients: dL/dx = dL/ds s (1 - s)", "[03/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    const Tensor x = parameter(c.x);
    const Array right = c.each([](Real, Real s, Real dy) { return dy * s * (1 - s); })();
    chapter::require_gradients(
        c.call(x), c.dy,
        {{"x",
          x,
          right,
          {{"dy is missing: the gradient of what comes after never gets through",
            c.each([](Real, Real s, Real) { return s * (1 - s); })},
           {"x is used where the formula has s = sigmoid(x)",
            c.each([](Real x, Real, Real dy) { return dy * x * (1 - x); })}}}},
        names);
  }
}
