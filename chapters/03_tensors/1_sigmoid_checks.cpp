// Checks the library's sigmoid, whoever wrote it. The call goes through the library.
#include <cmath>

#include "common/checks.hpp"
#include "headroom/ops/activations.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library

const chapter::Names names{{"row", "column"}, {}};

/// Random x and dy, and s = sigmoid(x) and dx by plain loops.
struct Case {
  explicit Case(std::uint64_t seed) {
    Rng rng(seed, "03/1");
    x = chapter::random_array({3, 5}, rng);
    dy = chapter::random_array({3, 5}, rng);
    s = Array(x.shape());
    dx = Array(x.shape());
    for (Index i = 0; i < x.size(); ++i) {
      s[i] = 1 / (1 + std::exp(-x[i]));
      dx[i] = dy[i] * s[i] * (1 - s[i]);
    }
  }
  chapter::Call call(const Tensor& input) const {
    return [input] { return activate(Activation::sigmoid, input); };
  }
  Array x, s, dy, dx;
};

}  // namespace

TEST_CASE("values: s = 1 / (1 + e^-x)", "[03/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    chapter::require_values(c.call(parameter(c.x)), c.s, names);
  }
}

TEST_CASE("gradients: dL/dx = dL/ds s (1 - s)", "[03/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    const Tensor x = parameter(c.x);
    chapter::require_gradients(c.call(x), c.dy, {{"x", x, c.dx}}, names);
  }
}
