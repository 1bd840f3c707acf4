// NoGrad and AnomalyMode.
#include "autograd/toy_operations.hpp"
#include "headroom/base/error.hpp"
#include "support/close.hpp"

using namespace headroom;
using namespace headroom::test;

TEST_CASE("NoGrad records nothing, nests, and ends with its scope") {
  const Tensor x = parameter(Array({1}, {1}));
  CHECK(grad_enabled());
  {
    const NoGrad outer;
    { const NoGrad inner; }
    CHECK_FALSE(grad_enabled());
    const Tensor y = times(x, 2);
    CHECK_FALSE(y.requires_grad());
    CHECK(graph_size(y) == 0);
    CHECK_FALSE(wants_tape({x}));
  }
  CHECK(grad_enabled());
  CHECK(times(x, 2).requires_grad());
  CHECK(wants_tape({x}));
  CHECK_FALSE(wants_tape({x.detach(), Tensor()}));
}

TEST_CASE("anomaly mode names the first operation whose output is not finite") {
  const Tensor x = parameter(Array(Shape{3}, {4, -1, 9}));
  const AnomalyMode on;
  CHECK_THROWS_WITH(times(root(times(x, 2)), 5), Catch::Contains("root: the output of shape [3]") &&
                                                     Catch::Contains("at element 1"));
  CHECK_THROWS_AS(root(x), NumericError);
}

TEST_CASE("anomaly mode names the first operation whose gradient is not finite") {
  const Tensor x = parameter(Array(Shape{2}, {4, 0}));  // the slope of the root at 0
  const auto backward = [&] { times(root(times(x, 2)), 5).backward(ones({2})); };
  CHECK_NOTHROW(backward());
  const AnomalyMode on;
  Tensor clean = parameter(Array(Shape{2}, {4, 0}));
  CHECK_THROWS_WITH(times(root(times(clean, 2)), 5).backward(ones({2})),
                    Catch::Contains("root: the gradient of an input of shape [2] has inf"));
}

TEST_CASE("anomaly mode ends with its scope") {
  { const AnomalyMode on; }
  CHECK_NOTHROW(root(constant(Array({1}, {-1}))));
}

TEST_CASE("all_finite sees NaN and both infinities") {
  CHECK(all_finite(Array({1}, {1})));
  CHECK(all_finite(Array(Shape{0})));
  CHECK_FALSE(all_finite(Array({1}, {std::numeric_limits<Real>::quiet_NaN()})));
  CHECK_FALSE(all_finite(Array({1}, {std::numeric_limits<Real>::infinity()})));
  CHECK_FALSE(all_finite(Array({1}, {-std::numeric_limits<Real>::infinity()})));
}
