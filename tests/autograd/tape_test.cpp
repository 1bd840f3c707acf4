// The tape: backward passes over shared, long and freed graphs.
#include "headroom/autograd/tape.hpp"

#include <chrono>

#include "autograd/toy_operations.hpp"
#include "headroom/base/error.hpp"
#include "support/close.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {
Array number(Real x) { return {Shape{1}, {x}}; }
}  // namespace

TEST_CASE("a diamond 60 deep is walked once per operation, not once per path") {
  // 2^60 paths lead back to the leaf.
  const Tensor x = parameter(number(1));
  Tensor y = x;
  for (int i = 0; i < 60; ++i) y = plus(y, y);
  CHECK(graph_size(y) == 60);
  y.backward();
  CHECK(x.grad()[0] == Real(0x1p60));
}

TEST_CASE("an operation waits for all of its output's readers, however they are nested") {
  const Tensor x = parameter(number(2));
  const Tensor a = times(x, 3);
  const Tensor b = product(a, a);           // (3x)^2
  const Tensor y = plus(product(b, a), x);  // (3x)^3 + x
  y.backward();
  CHECK(x.grad()[0] == 81 * 4 + 1);
}

namespace {

/// A pending elementwise result, as map() returns it.
struct PendingTimes {
  Array x;
  Real factor;
  void add_to(Array& sum) const {
    for (Index i = 0; i < sum.size(); ++i) sum[i] += x[i] * factor;
  }
  operator Array() const {  // NOLINT
    return each(x, [this](Real v) { return v * factor; });
  }
};

/// Returns x * 5. Its backward pass adds to the gradient of x by `add`.
Tensor times_5(const Tensor& x, const std::function<void(const Array& dy, GradientSlot dx)>& add) {
  const OpScope op("times_5");
  return record(op, each(x.value(), [](Real v) { return 5 * v; }), {x},
                [add](const Array& dy, Gradients& into) { add(dy, into[0]); });
}

}  // namespace

TEST_CASE("a gradient that two operations share is not changed in place, however it is added to") {
  const std::function<void(const Array&, GradientSlot)> ways[] = {
      [](const Array& dy, GradientSlot dx) {
        dx += PendingTimes{dy, 5};
      },
      [](const Array& dy, GradientSlot dx) {
        dx += static_cast<Array>(PendingTimes{dy, 5});
      },
      [](const Array& dy, GradientSlot dx) {
        PendingTimes{dy, 5}.add_to(dx.sum());
      },
      [](const Array& dy, GradientSlot dx) {
        const auto [sum, add] = dx.write_or_add();
        PendingTimes{dy, 5}.add_to(sum);
        CHECK(add);
      }};
  for (const auto& add : ways) {
    for (const bool first_operand : {true, false}) {
      INFO("way " << &add - ways << ", first operand " << first_operand);
      const Tensor x = parameter(number(1)), z = parameter(number(1));
      const Tensor a = times(x, 2), b = times(z, 3);
      const Tensor older = times_5(a, add);  // it reads a before the sum does
      // The sum passes the same gradient array to a and b; then `older` adds to the gradient of a.
      const Tensor y = plus(first_operand ? plus(a, b) : plus(b, a), older);
      y.backward();
      CHECK(x.grad()[0] == 2 * (1 + 5));
      CHECK(z.grad()[0] == 3);
    }
  }
}

TEST_CASE("200,000 operations in a row are destroyed without running, and run") {
  const Tensor x = parameter(number(1));
  const auto chain = [&] {
    Tensor y = x;
    for (int i = 0; i < 200'000; ++i) y = times(y, 1);
    return y;
  };
  { const Tensor never_run = chain(); }
  chain().backward();
  CHECK(x.grad()[0] == 1);
  chain().backward({}, true);
  CHECK(x.grad()[0] == 2);
}

TEST_CASE("a second backward needs keep_graph, and says so") {
  const Tensor x = parameter(number(3));
  const Tensor y = product(x, x);
  y.backward({}, true);
  y.backward({}, true);
  CHECK(x.grad()[0] == 12);
  y.backward();
  CHECK(x.grad()[0] == 18);
  CHECK_THROWS_WITH(y.backward(),
                    "backward: the tape of 'product' was freed by an earlier backward; pass "
                    "keep_graph = true there");
  CHECK(x.grad()[0] == 18);
}

TEST_CASE("a graph that shares a freed part throws instead of stopping there") {
  const Tensor x = parameter(number(3));
  const Tensor shared = times(x, 2);
  times(shared, 5).backward();
  CHECK_THROWS_AS(times(shared, 7).backward(), UsageError);
  CHECK(x.grad()[0] == 10);
}

TEST_CASE("a part that no gradient reached is freed all the same") {
  const Tensor x = parameter(number(3));
  const Tensor unused = product(times(x, 2), times(x, 2));
  const OpScope op("ignores_its_input");
  record(op, number(1), {unused}, nothing_flows).backward();
  CHECK_FALSE(x.grad().defined());
  CHECK_THROWS_WITH(unused.backward(), Catch::Contains("was freed by an earlier backward"));
}

TEST_CASE("backward frees what the closures saved") {
  const Tensor x = parameter(Array(Shape{1000}, Real(2)));
  const Tensor y = product(times(x, 2), times(x, 3));
  const std::size_t before = pool_statistics().live;
  y.backward(ones({1000}));
  // Freed: the two inputs of the product. New: the leaf's gradient.
  const std::size_t block = 1000 * sizeof(Real);
  CHECK(pool_statistics().live < before - block / 2);
}

TEST_CASE("an operation's values are freed before those that it was computed from have gradients") {
  std::vector<Tensor> leaves;
  Tensor y = parameter(Array(Shape{1000}, Real(1)));
  for (int i = 0; i < 20; ++i) {
    leaves.push_back(parameter(Array(Shape{1000}, Real(1))));
    y = product(y, times(leaves.back(), 1));
  }
  const Array cotangent = ones({1000});
  reset_pool_peak();
  const std::size_t before = pool_statistics().live;
  y.backward(cotangent);
  // 20 gradients of leaves take the place of 20 products and 20 factors.
  CHECK(pool_statistics().peak < before + 10 * 1000 * sizeof(Real));
}

TEST_CASE("the cotangent must fit; only one number has one by itself") {
  const Tensor x = parameter(Array(Shape{2, 3}, Real(1)));
  const Tensor y = times(x, 2);
  CHECK_THROWS_WITH(y.backward(ones({3, 2})), "backward: cotangent [3, 2] for a value [2, 3]");
  CHECK_THROWS_WITH(y.backward(),
                    "backward: a tensor of shape [2, 3] needs a cotangent; only a single number "
                    "has one by itself");
  CHECK_THROWS_AS(y.backward(ones({3, 2})), ShapeError);
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("backward off the tape is an error") {
  CHECK_THROWS_WITH(times(constant(number(1)), 2).backward(),
                    Catch::Contains("nothing on the tape"));
}

TEST_CASE("a gradient of a wrong shape is refused with both shapes") {
  const Tensor x = parameter(Array(Shape{2}, {1, 2}));
  const OpScope op("wrong");
  const Tensor y = record(op, number(1), {x}, [](const Array& dy, auto& into) { into[0] += dy; });
  CHECK_THROWS_WITH(y.backward(), "backward: gradient [1] for an input of shape [2]");
}

TEST_CASE("slots of inputs that want no gradient take and ignore it") {
  const Tensor x = parameter(number(2)), c = constant(number(5));
  product(x, c).backward();
  CHECK(x.grad()[0] == 5);
  CHECK_FALSE(c.grad().defined());
  const OpScope op("asks");
  const Tensor y = record(op, number(1), {x, c, Tensor()}, [](const Array&, Gradients& into) {
    CHECK(into[0].wanted());
    CHECK_FALSE(into[1].wanted());
    CHECK_FALSE(into[2].wanted());
    const auto [sum, add] = into[0].write_or_add();
    sum[0] += 1;
    CHECK(add);  // the leaf has a gradient already
  });
  y.backward();
  CHECK(x.grad()[0] == 6);
}

TEST_CASE("a parameter changed in place between forward and backward is detected") {
  Tensor w = parameter(number(2));
  const Tensor x = parameter(number(3));
  const Tensor y = product(w, x);
  w.edit_value()[0] = 100;
  CHECK_THROWS_WITH(y.backward(),
                    Catch::Contains("an input of 'product' of shape [1] was changed in place"));
  CHECK_FALSE(x.grad().defined());
  product(w, x).backward();  // a new forward pass is fine
  CHECK(x.grad()[0] == 100);
}

TEST_CASE("data changed in place between forward and backward is detected too") {
  const Tensor w = parameter(number(2));
  Tensor data = constant(number(3));
  const Tensor y = product(w, data);
  data.edit_value()[0] = 100;
  CHECK_THROWS_AS(y.backward(), UsageError);
}

TEST_CASE("an exception in a hook leaves no half-summed gradient behind") {
  const Tensor x = parameter(number(3));
  Tensor middle = times(x, 2);
  bool fail = true;
  middle.on_gradient([&](Array&) {
    if (fail) throw std::runtime_error("stop");
  });
  const Tensor y = plus(middle, middle);
  CHECK_THROWS_WITH(y.backward({}, true), "stop");
  fail = false;
  y.backward({}, true);
  CHECK(x.grad()[0] == 4);
}

TEST_CASE("an operation without a gradient refuses tracked inputs: a severed graph is an error") {
  const OpScope op("argmax");
  const Tensor x = parameter(number(1));
  CHECK_THROWS_WITH(record_without_gradient(op, number(0), {x}),
                    "argmax: has no gradient, but an input requires one; detach() it or use "
                    "NoGrad");
  CHECK_THROWS_AS(record_without_gradient(op, number(0), {times(x, 2)}), UsageError);
  CHECK_NOTHROW(record_without_gradient(op, number(0), {x.detach()}));
  const NoGrad no_grad;
  CHECK_NOTHROW(record_without_gradient(op, number(0), {x}));
}
