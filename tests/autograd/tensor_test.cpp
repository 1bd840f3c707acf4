// Tensor: leaves, their gradients and hooks.
#include "headroom/autograd/tensor.hpp"

#include "autograd/toy_operations.hpp"
#include "headroom/base/error.hpp"
#include "support/close.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {
Array vector(std::initializer_list<Real> numbers) {
  return {Shape{Index(numbers.size())}, numbers};
}
}  // namespace

TEST_CASE("handles of a leaf share value and gradient") {
  const Tensor x = parameter(vector({1, 2}));
  Tensor copy = x;
  times(x, 3).backward(vector({1, 10}));
  CHECK_THAT(copy.grad(), SameBits(vector({3, 30})));
  copy.zero_grad();
  CHECK_FALSE(x.grad().defined());
  CHECK(copy.same(x));
  CHECK_FALSE(x.same(parameter(vector({1, 2}))));
}

TEST_CASE("gradients of several backward passes add up until zero_grad") {
  Tensor x = parameter(vector({1, 2}));
  times(x, 3).backward(ones({2}));
  times(x, 4).backward(ones({2}));
  CHECK_THAT(x.grad(), SameBits(vector({7, 7})));
  x.zero_grad();
  times(x, 4).backward(ones({2}));
  CHECK_THAT(x.grad(), SameBits(vector({4, 4})));
}

TEST_CASE("a leaf owns its gradient: scaling one does not scale another, nor the cotangent") {
  Tensor a = parameter(vector({1, 2})), b = parameter(vector({3, 4}));
  const Array cotangent = vector({10, 20});
  plus(a, b).backward(cotangent);  // both gradients are the cotangent itself
  a.mutable_grad()[0] *= 2;
  CHECK_THAT(b.grad(), SameBits(vector({10, 20})));
  CHECK_THAT(cotangent, SameBits(vector({10, 20})));
  Tensor leaf = parameter(vector({1, 2}));
  leaf.backward(cotangent);
  leaf.mutable_grad()[1] = 0;
  CHECK_THAT(cotangent, SameBits(vector({10, 20})));
}

TEST_CASE("an interior tensor keeps its gradient only when asked to") {
  const Tensor x = parameter(vector({1, 2}));
  Tensor kept = times(x, 2), dropped = times(kept, 5);
  kept.retain_grad();
  times(dropped, 1).backward(vector({1, 3}));
  CHECK_THAT(kept.grad(), SameBits(vector({5, 15})));
  CHECK_FALSE(dropped.grad().defined());
  CHECK_THAT(x.grad(), SameBits(vector({10, 30})));
  CHECK_THROWS_AS(Tensor(vector({1})).retain_grad(), UsageError);
}

TEST_CASE("a retained gradient is its own: changing it leaves the others alone") {
  const Tensor x = parameter(vector({1, 2}));
  Tensor middle = plus(x, x);
  middle.retain_grad();
  Tensor y = plus(middle, middle);
  y.retain_grad();
  y.backward(vector({1, 1}));
  y.mutable_grad()[0] = 99;
  middle.mutable_grad()[0] = 77;
  CHECK_THAT(x.grad(), SameBits(vector({4, 4})));
  CHECK_THAT(middle.grad(), SameBits(vector({77, 2})));
}

TEST_CASE("a hook on an interior tensor sees the complete gradient and may change it") {
  const Tensor x = parameter(vector({1, 2}));
  Tensor middle = times(x, 2);
  int calls = 0;
  middle.on_gradient([&](Array& gradient) {
    ++calls;
    CHECK_THAT(gradient, SameBits(vector({5, 5})));  // 3 + 2, not one of them
    gradient[0] = 0;
  });
  const Array cotangent = ones({2});
  plus(times(middle, 3), times(middle, 2)).backward(cotangent);
  CHECK(calls == 1);
  CHECK_THAT(x.grad(), SameBits(vector({0, 10})));
  CHECK_THAT(cotangent, SameBits(ones({2})));
}

TEST_CASE("a hook that changes a gradient changes it for its tensor alone") {
  const Tensor x = parameter(vector({1, 2})), z = parameter(vector({3, 4}));
  const Tensor a = times(x, 2);
  Tensor b = times(z, 3);  // newer than a, so its turn comes first
  b.on_gradient([](Array& gradient) { gradient[0] = 50; });
  plus(a, b).backward(ones({2}));  // passes the same array to a and to b
  CHECK_THAT(x.grad(), SameBits(vector({2, 2})));
  CHECK_THAT(z.grad(), SameBits(vector({150, 3})));
}

TEST_CASE("a retained gradient that a second pass adds to stays apart from what others hold") {
  const Tensor x = parameter(vector({1, 2}));
  Tensor middle = times(x, 2);
  middle.retain_grad();
  const Tensor y = times(middle, 3);
  y.backward(ones({2}), true);
  const Array first = middle.grad();
  y.backward(ones({2}), true);
  CHECK_THAT(first, SameBits(vector({3, 3})));
  CHECK_THAT(middle.grad(), SameBits(vector({6, 6})));
}

TEST_CASE("a hook on a leaf sees the contribution of one pass, changes it, and it is added") {
  Tensor x = parameter(vector({1, 2}));
  std::vector<Real> seen;
  x.on_gradient([&](Array& gradient) {
    seen.push_back(gradient[0]);
    gradient[0] *= 10;
  });
  times(x, 3).backward(ones({2}));
  times(x, 4).backward(ones({2}));
  CHECK(seen == std::vector<Real>{3, 4});
  CHECK_THAT(x.grad(), SameBits(vector({70, 7})));
  CHECK_THROWS_AS(Tensor(vector({1})).on_gradient([](Array&) {}), UsageError);
}

TEST_CASE("several hooks run in the order they were added") {
  Tensor x = parameter(vector({1}));
  x.on_gradient([](Array& gradient) { gradient[0] += 1; });
  x.on_gradient([](Array& gradient) { gradient[0] *= 10; });
  times(x, 3).backward();
  CHECK(x.grad()[0] == 40);
}

TEST_CASE("set_value replaces a leaf for every handle, in another shape too") {
  Tensor x = parameter(vector({1, 2}));
  const Tensor copy = x;
  times(x, 1).backward(ones({2}));
  x.set_value(vector({1, 2, 3}));
  CHECK(copy.shape() == Shape{3});
  CHECK_FALSE(copy.grad().defined());
  times(copy, 2).backward(ones({3}));
  CHECK_THAT(x.grad(), SameBits(vector({2, 2, 2})));
  x.set_value(vector({4}), vector({5}));
  CHECK(copy.grad()[0] == 5);
  CHECK_THROWS_AS(x.set_value(vector({4}), vector({5, 6})), ShapeError);
  CHECK_THROWS_AS(times(x, 2).set_value(vector({1})), UsageError);
  CHECK_THROWS_AS(x.set_grad(vector({1, 2})), ShapeError);
}

TEST_CASE("detach is off the tape; requires_grad is for leaves to decide") {
  Tensor x = parameter(vector({1, 2}));
  Tensor y = times(x, 2);
  CHECK(y.requires_grad());
  CHECK_FALSE(y.is_leaf());
  CHECK_FALSE(y.detach().requires_grad());
  CHECK(y.detach().value().same_buffer(y.value()));
  CHECK_THROWS_AS(y.set_requires_grad(false), UsageError);
  x.set_requires_grad(false);
  CHECK_FALSE(times(x, 2).requires_grad());
  CHECK_THROWS_AS(Tensor().set_requires_grad(true), UsageError);
}

TEST_CASE("item is for one number") {
  CHECK(Tensor(Real(3)).item() == 3);
  CHECK(Tensor(Array(Shape{1, 1}, {4})).item() == 4);
  CHECK_THROWS_WITH(Tensor(vector({1, 2})).item(), "item: shape [2] has 2 elements, not 1");
}

TEST_CASE("value and shape of an undefined tensor are an error that names the operation") {
  const Tensor none;
  const std::string why =
      "a tensor is undefined: it was default-constructed, or it is a result that was not asked for "
      "or a parameter that its layer does not have; ask defined() first";
  CHECK_THROWS_AS(none.value(), UsageError);
  CHECK_THROWS_WITH(none.shape(), why);
  CHECK_THROWS_WITH(none.size(), why);
  CHECK_THROWS_WITH(none.item(), why);
  CHECK_THROWS_WITH(plus(parameter(vector({1})), none), "plus: " + why);
  CHECK_FALSE(none.detach().defined());
  CHECK_FALSE(none.grad().defined());
}

TEST_CASE("an element of a gradient before backward() is an error, and so is a tensor made of it") {
  const Tensor x = parameter(vector({1, 2}));
  CHECK_THROWS_AS(x.grad()[0], UsageError);
  CHECK_THROWS_WITH(
      x.grad()[0], Catch::Contains("grad() is undefined before backward() has reached the tensor"));
  CHECK_THROWS_WITH(Tensor(x.grad()), Catch::Contains("such as grad() before backward()"));
  times(x, 3).backward(vector({1, 1}));
  CHECK(x.grad()[0] == 3);
}
