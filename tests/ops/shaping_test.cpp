// Operations that move elements: values, gradients and errors.
#include "headroom/ops/shaping.hpp"

#include "headroom/base/error.hpp"
#include "ops/values.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {
Tensor six() { return parameter(Array({2, 3}, {1, 2, 3, 4, 5, 6})); }
}  // namespace

TEST_CASE("reshape shares the buffer and works out one size") {
  const Tensor x = six();
  const Tensor y = reshape(x, {3, -1});
  CHECK(y.shape() == Shape{3, 2});
  CHECK(y.value().same_buffer(x.value()));
  y.backward(Array({3, 2}, {1, 2, 3, 4, 5, 6}));
  CHECK(x.grad().shape() == Shape{2, 3});
  CHECK(values(x.grad()) == Values{1, 2, 3, 4, 5, 6});
  CHECK_THROWS_WITH(reshape(x, Shape{4}),
                    "reshape: the 6 elements of [2, 3] do not fill [4], which takes 4");
  CHECK_THROWS_WITH(reshape(x, {4, -1}),
                    "reshape: no size for -1 makes [4, -1] hold the 6 elements of [2, 3]");
  CHECK_THROWS_WITH(reshape(x, {-1, -1}), "reshape: sizes [-1, -1]; one may be -1, none below");
  CHECK_THROWS_AS(reshape(Tensor(zeros({0, 2})), {0, -1}), ShapeError);
}

TEST_CASE("permute and transpose move axes, and their gradients back") {
  const Tensor x = six();
  const Tensor y = transpose(x);
  CHECK(y.shape() == Shape{3, 2});
  CHECK(values(y.value()) == Values{1, 4, 2, 5, 3, 6});
  y.backward(Array({3, 2}, {1, 2, 3, 4, 5, 6}));
  CHECK(values(x.grad()) == Values{1, 3, 5, 2, 4, 6});

  // An order that is not its own inverse.
  const Tensor z = parameter(Array({1, 2, 3}, {1, 2, 3, 4, 5, 6}));
  const Tensor w = permute(z, {2, 0, -2});
  CHECK(w.shape() == Shape{3, 1, 2});
  CHECK(values(w.value()) == Values{1, 4, 2, 5, 3, 6});
  w.backward(w.value());
  CHECK(values(z.grad()) == values(z.value()));
  CHECK_THROWS_WITH(permute(x, {0, 0}), "permute: [0, 0] is not an order of the 2 axes of [2, 3]");
  CHECK_THROWS_WITH(permute(x, {0}), "permute: [0] is not an order of the 2 axes of [2, 3]");
  CHECK_THROWS_WITH(transpose(x, 0, 2), "transpose: axis 2 does not exist in shape [2, 3]");
}

TEST_CASE("slices take a range, and overlapping ones add their gradients") {
  const Tensor x = six();
  const Tensor left = slice(x, 1, 0, 2), right = slice(x, -1, 1, 3);
  CHECK(values(left.value()) == Values{1, 2, 4, 5});
  CHECK(values(right.value()) == Values{2, 3, 5, 6});
  concat({left, right}, 0).backward(Array({4, 2}, {1, 2, 3, 4, 10, 20, 30, 40}));
  CHECK(values(x.grad()) == Values{1, 12, 20, 3, 34, 40});
  CHECK(slice(x, 0, 1, 1).shape() == Shape{0, 3});
  CHECK_THROWS_WITH(slice(x, 1, 1, 4), "slice: [1, 4) is outside axis 1 of [2, 3], which has 3");
  CHECK_THROWS_AS(slice(x, 1, 2, 1), ShapeError);
}

TEST_CASE("concat, stack and split put parts together and take them apart") {
  const Tensor a = parameter(Array({2, 1}, {1, 2})), b = parameter(Array({2, 2}, {3, 4, 5, 6}));
  const Tensor y = concat({a, b}, -1);
  CHECK(values(y.value()) == Values{1, 3, 4, 2, 5, 6});
  y.backward(Array({2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK(values(a.grad()) == Values{1, 4});
  CHECK(values(b.grad()) == Values{2, 3, 5, 6});

  const std::vector<Tensor> parts = split(y, {1, 0, 2}, 1);
  CHECK(parts[1].shape() == Shape{2, 0});
  CHECK(values(parts[2].value()) == values(b.value()));

  const Tensor pair = stack({b, b}, 1);
  CHECK(pair.shape() == Shape{2, 2, 2});
  CHECK(values(pair.value()) == Values{3, 4, 3, 4, 5, 6, 5, 6});
  CHECK(stack({b, b}, -1).shape() == Shape{2, 2, 2});

  CHECK_THROWS_WITH(concat({}, 0), "concat: no parts; at least 1 is needed");
  CHECK_THROWS_WITH(concat({a, b}, 0), "concat: shapes [2, 1] and [2, 2] differ outside of axis 0");
  CHECK_THROWS_WITH(stack({a, b}, 0),
                    "stack: shapes [2, 1] and [2, 2] differ; all parts must be equal");
  CHECK_THROWS_WITH(stack({a}, 4), "stack: parts of shape [2, 1] have no place for axis 4");
  CHECK_THROWS_WITH(split(y, {1, 1}, 1),
                    "split: sizes [1, 1] do not add up to axis 1 of [2, 3], which has 3");
}

TEST_CASE("gather picks by position, and repeated positions add up") {
  const Tensor x = six();
  const Tensor y = gather(x, 1, Ids({3}, {2, 0, 2}));
  CHECK(values(y.value()) == Values{3, 1, 3, 6, 4, 6});
  y.backward(Array({2, 3}, {1, 2, 4, 8, 16, 32}));
  CHECK(values(x.grad()) == Values{2, 0, 5, 16, 0, 40});
  CHECK(gather(x, 0, Ids(Shape{0})).shape() == Shape{0, 3});
  CHECK_THROWS_WITH(gather(x, 1, Ids({1}, {3})),
                    "gather: position 3 is outside axis 1 of [2, 3], which has 3");
  CHECK_THROWS_WITH(gather(x, 1, Ids({1, 1}, {0})), "gather: positions [1, 1] must have one axis");
}
