// Inputs that the backward pass recomputes instead of keeping them.
#include <functional>

#include "headroom/array/pool.hpp"
#include "headroom/ops/activations.hpp"
#include "headroom/ops/matmul.hpp"
#include "headroom/ops/normalisation.hpp"
#include "support/close.hpp"
#include "support/random.hpp"

using namespace headroom;

namespace {

struct Cheap {
  const char* name;
  std::function<Tensor(const Tensor&)> operation;
};

const Index rows = 60, columns = 170;

std::vector<Cheap> cheap_operations() {
  const Tensor weight = parameter(test::noise({columns}, "norm", 1));
  const Tensor bias = parameter(test::noise({columns}, "norm", 2));
  return {{"gelu", gelu},
          {"layer_norm", [=](const Tensor& x) { return layer_norm(x, weight, bias); }},
          {"rms_norm", [=](const Tensor& x) { return rms_norm(x, weight); }}};
}

}  // namespace

TEST_CASE("linear keeps nothing of an input that can be made again") {
  const Tensor x = parameter(test::noise({rows, columns}, "x"));
  const Tensor weight = parameter(test::noise({90, columns}, "weight"));
  for (const Cheap& cheap : cheap_operations()) {
    INFO(cheap.name);
    const std::size_t before = pool_statistics().live;
    const Tensor y = linear(cheap.operation(x), weight);
    const std::size_t kept = pool_statistics().live - before;
    const std::size_t output = rows * 90 * sizeof(Real);
    const std::size_t statistics = 4 * rows * sizeof(Real);  // upper bound of what the norms keep
    CHECK(kept <= output + output / 4 + statistics);
  }
}

TEST_CASE("what is made again has the bits that were there") {
  const Tensor x = parameter(test::noise({rows, columns}, "x"));
  const Array cotangent = test::noise({rows, 90}, "cotangent");
  for (const Cheap& cheap : cheap_operations()) {
    INFO(cheap.name);
    const auto gradient = [&](bool from_the_tape, bool side_by_side) {
      const Tensor weight = parameter(test::noise({90, columns}, "weight"));
      const Tensor h = from_the_tape ? cheap.operation(x) : cheap.operation(x).detach();
      const Tensor y = side_by_side ? linear_side_by_side(h, {weight}, {}) : linear(h, weight);
      y.backward(cotangent, /*keep_graph=*/true);
      const Array once = weight.grad().clone();
      y.backward(cotangent);  // a kept tape recomputes it again
      for (Index i = 0; i < once.size(); ++i) REQUIRE(weight.grad()[i] == 2 * once[i]);
      return once;
    };
    for (const bool side_by_side : {false, true}) {
      CHECK_THAT(gradient(true, side_by_side), test::SameBits(gradient(false, side_by_side)));
    }
  }
}
