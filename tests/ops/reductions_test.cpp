// Reductions: values, shapes, ties and errors.
#include "headroom/ops/reductions.hpp"

#include "headroom/base/error.hpp"
#include "ops/values.hpp"
#include "support/catch.hpp"

using namespace headroom;

TEST_CASE("sum and mean run over the named axes and send the gradient back to all of them") {
  const Tensor x = parameter(Array({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  CHECK(sum(x).item() == 78);
  CHECK(mean(x).item() == Real(6.5));
  CHECK(sum(x, {1}).shape() == Shape{2, 2});
  CHECK(sum(x, {1}, true).shape() == Shape{2, 1, 2});
  CHECK(values(sum(x, {1}).value()) == Values{9, 12, 27, 30});
  CHECK(values(sum(x, {-1, 0}).value()) == Values{18, 26, 34});
  const Tensor y = mean(x, {0, 2});
  CHECK(values(y.value()) == Values{Real(4.5), Real(6.5), Real(8.5)});
  y.backward(Array({3}, {4, 40, 400}));
  CHECK(values(x.grad()) == Values{1, 1, 10, 10, 100, 100, 1, 1, 10, 10, 100, 100});
}

TEST_CASE("max and min share the gradient of a tie equally") {
  const Tensor x = parameter(Array({2, 3}, {5, 1, 5, 2, 2, 2}));
  const Tensor y = max(x, {1});
  CHECK(values(y.value()) == Values{5, 2});
  y.backward(Array({2}, {8, 30}));
  CHECK(values(x.grad()) == Values{4, 0, 4, 10, 10, 10});
  Tensor(x).zero_grad();
  const Tensor z = min(x, {0}, true);
  CHECK(z.shape() == Shape{1, 3});
  z.backward(Array({1, 3}, {1, 10, 100}));
  CHECK(values(x.grad()) == Values{0, 10, 0, 1, 0, 100});
  CHECK(max(x).item() == 5);
  CHECK(min(x).item() == 1);
}

TEST_CASE("the sum over nothing is 0; mean, max and min over nothing are errors") {
  const Tensor x(zeros({2, 0}));
  CHECK(values(sum(x, {1}).value()) == Values{0, 0});
  CHECK(sum(x, {0}).shape() == Shape{0});
  CHECK(mean(x, {0}).shape() == Shape{0});
  CHECK_THROWS_WITH(mean(x, {1}), "mean: shape [2, 0] has nothing to reduce: an axis is empty");
  CHECK_THROWS_WITH(max(x), "max: shape [2, 0] has nothing to reduce: an axis is empty");
  CHECK_THROWS_AS(min(x, {-1}), ShapeError);
}

TEST_CASE("a wrong axis is named") {
  const Tensor x(zeros({2, 3}));
  CHECK_THROWS_WITH(sum(x, {2}), "sum: axis 2 does not exist in shape [2, 3]");
  CHECK_THROWS_WITH(sum(x, {1, -1}), "sum: axis 1 of shape [2, 3] is named twice in [1, -1]");
}

TEST_CASE("argmax takes the first of equals along the last axis") {
  const Ids best = argmax(Array({2, 3}, {1, 7, 7, 3, 2, 1}));
  CHECK(best.shape() == Shape{2});
  CHECK(best[0] == 1);
  CHECK(best[1] == 0);
  CHECK_THROWS_WITH(argmax(zeros({3, 0})), "argmax: shape [3, 0] has no last axis with elements");
}
