// Backward closures that skip an input: each is an error that names operation and input. Cases that
// only look similar are no errors.
#include "autograd/toy_operations.hpp"
#include "headroom/base/error.hpp"
#include "support/close.hpp"

using namespace headroom;
using namespace headroom::test;
using Catch::Contains;

namespace {

/// An operation of two inputs of shape [3] with the given backward closure.
using Operation = std::function<Tensor(const Tensor& a, const Tensor& b)>;
Operation with(Backward closure) {
  return [closure = std::move(closure)](const Tensor& a, const Tensor& b) {
    const OpScope op("broken");
    return record(op, each(a.value(), b.value(), [](Real u, Real v) { return u * v; }), {a, b},
                  closure);
  };
}

struct Cut {
  const char* way;
  Operation operation;
  int input;  // the input that is skipped
};

const std::vector<Cut>& cuts() {
  static const std::vector<Cut> table = {
      {"adds nothing", with([](const Array&, Gradients&) {}), 0},
      {"adds to the first of two", with([](const Array& dy, Gradients& into) { into[0] += dy; }),
       1},
      {"adds to the second of two", with([](const Array& dy, Gradients& into) { into[1] += dy; }),
       0},
      {"adds to the wrong input, twice", with([](const Array& dy, Gradients& into) {
         into[0] += dy;
         into[0] += dy;
       }),
       1},
      {"returns early", with([](const Array& dy, Gradients& into) {
         into[0] += dy;
         if (dy[0] > 0) return;
         into[1] += dy;
       }),
       1},
      {"a loop that begins at 1", with([](const Array& dy, Gradients& into) {
         for (std::size_t i = 1; i < into.size(); ++i) into[i] += dy;
       }),
       0},
      {"a loop that ends too soon", with([](const Array& dy, Gradients& into) {
         for (std::size_t i = 0; i + 1 < into.size(); ++i) into[i] += dy;
       }),
       1},
      {"the same index all through a loop", with([](const Array& dy, Gradients& into) {
         for (std::size_t i = 0; i < into.size(); ++i) into[0] += dy;
       }),
       1},
      {"only if the gradient is large", with([](const Array& dy, Gradients& into) {
         into[0] += dy;
         if (dy[0] > 100) into[1] += dy;
       }),
       1},
      {"computed, but added to an array of its own", with([](const Array& dy, Gradients& into) {
         Array sum = zeros(dy.shape());
         for (Index i = 0; i < dy.size(); ++i) sum[i] += dy[i];
         into[1] += sum;
       }),
       0},
      {"the sum is asked for in one case only", with([](const Array& dy, Gradients& into) {
         for (std::size_t i = 0; i < 2; ++i) {
           if (i == 1) into[i].sum()[0] += dy[0];
         }
       }),
       0},
      {"says of the wrong input that nothing flows",
       with([](const Array&, Gradients& into) { into[0].nothing_flows(); }), 1},
  };
  return table;
}

std::string of_input(int input) {
  return "backward: 'broken' added nothing to the gradient of its input " + std::to_string(input) +
         " of shape [3]";
}

Array three() { return {Shape{3}, {1, 2, 3}}; }

}  // namespace

TEST_CASE("a closure that passes over an input is an error that names operation and input") {
  for (const Cut& cut : cuts()) {
    INFO(cut.way);
    const Tensor a = parameter(three()), b = parameter(three());
    CHECK_THROWS_AS(cut.operation(a, b).backward(ones({3})), UsageError);
    CHECK_THROWS_WITH(cut.operation(a, b).backward(ones({3})),
                      Contains(of_input(cut.input) + " (a leaf: a parameter)"));
    // The same in the middle of a tape, in front of an operation that the message names.
    CHECK_THROWS_WITH(times(cut.operation(times(a, 2), times(b, 2)), 2).backward(ones({3})),
                      Contains(of_input(cut.input) + " (the output of 'times')"));
  }
}

TEST_CASE("an input that is passed over is none when it wants no gradient") {
  for (const Cut& cut : cuts()) {
    if (&cut == &cuts()[0]) continue;  // skips both
    INFO(cut.way);
    const Tensor a = parameter(three()), c = constant(three());
    CHECK_NOTHROW((cut.input == 0 ? cut.operation(c, a) : cut.operation(a, c)).backward(ones({3})));
  }
}

TEST_CASE("a closure that asks whether another input is wanted") {
  const Operation asks_the_other = with([](const Array& dy, Gradients& into) {
    if (into[1].wanted()) into[0] += dy;
    if (into[1].wanted()) into[1] += dy;
  });
  const Tensor a = parameter(three()), b = parameter(three());
  CHECK_NOTHROW(asks_the_other(a, b).backward(ones({3})));
  CHECK_THROWS_WITH(asks_the_other(a, constant(three())).backward(ones({3})),
                    Contains(of_input(0)));
}

TEST_CASE("additions by other closures and earlier passes do not count") {
  const Operation adds_to_b = with([](const Array& dy, Gradients& into) { into[1] += dy; });
  const Tensor a = parameter(three()), b = parameter(three());
  // The younger operation adds to a before the closure that skips a runs.
  const Tensor older = adds_to_b(a, b), younger = times(a, 2);
  CHECK_THROWS_WITH(plus(older, younger).backward(ones({3})), Contains(of_input(0)));
  CHECK(a.grad().defined());
  CHECK_THROWS_WITH(adds_to_b(a, b).backward(ones({3})), Contains(of_input(0)));
}

TEST_CASE("additions are judged per node: a tensor that is several inputs needs one") {
  const Tensor a = parameter(three());
  with([](const Array& dy, Gradients& into) { into[1] += dy; })(a, a).backward(ones({3}));
  CHECK(a.grad()[2] == 1);
}

TEST_CASE("every way to add counts, zeros too, in every pass over a kept graph") {
  struct Pending {  // as map() returns it
    Array value;
    void add_to(Array& sum) const { sum[0] += value[0]; }
    operator Array() const { return value; }  // NOLINT
  };
  const std::vector<Backward> ways = {
      [](const Array& dy, Gradients& into) { into[0] += dy; },
      [](const Array& dy, Gradients& into) { into[0] += zeros(dy.shape()); },
      [](const Array& dy, Gradients& into) { into[0] += Pending{dy}; },
      [](const Array& dy, Gradients& into) { into[0].sum()[0] += dy[0]; },
      [](const Array& dy, Gradients& into) {
        const auto [sum, add] = into[0].write_or_add();
        for (Index i = 0; i < 3; ++i) sum[i] = add ? sum[i] + dy[i] : dy[i];
      },
      [](const Array&, Gradients& into) { into[0].nothing_flows(); },
  };
  for (const Backward& way : ways) {
    const Tensor a = parameter(three());
    const Tensor y = with(way)(a, constant(three()));
    y.backward(ones({3}), true);
    y.backward(ones({3}), true);
    const Tensor z = with(way)(times(a, 2), constant(three()));
    CHECK_NOTHROW(z.backward(ones({3}), true));
    CHECK_NOTHROW(z.backward(ones({3})));
  }
}

TEST_CASE("a hook does not stand in for an addition") {
  const Tensor a = parameter(three());
  Tensor hooked = times(a, 2);
  hooked.on_gradient([](Array&) {});
  CHECK_THROWS_WITH(
      with([](const Array&, Gradients&) {})(hooked, constant(three())).backward(ones({3})),
      Contains(of_input(0)));
}

TEST_CASE("what feeds only operations through which nothing flows is reached, without gradient") {
  const OpScope op("constant");
  const Tensor lower = parameter(three()), beside = parameter(three()), out = parameter(three());
  const Tensor none = record(op, three(), {times(lower, 2)}, nothing_flows);
  plus(product(none, out), beside).backward(ones({3}));
  CHECK(out.grad().defined());
  CHECK(beside.reached_by_backward());
  CHECK_FALSE(lower.grad().defined());
  CHECK(lower.reached_by_backward());
  CHECK_FALSE(parameter(three()).reached_by_backward());
  Tensor again = lower;
  again.zero_grad();
  CHECK_FALSE(lower.reached_by_backward());
  // Another path gives it a gradient as usual.
  plus(record(op, three(), {lower}, nothing_flows), lower).backward(ones({3}));
  CHECK(lower.grad()[0] == 1);
}

TEST_CASE("the tape is usable after the error") {
  const Tensor a = parameter(three());
  const Tensor middle = times(a, 2);
  bool broken = true;
  const Tensor y = with([&](const Array& dy, Gradients& into) {
    if (!broken) into[0] += dy;
  })(middle, constant(three()));
  const Tensor both = plus(y, middle);
  CHECK_THROWS_AS(both.backward(ones({3}), true), UsageError);
  broken = false;
  both.backward(ones({3}));
  CHECK(a.grad()[0] == 4);
}

TEST_CASE("an operation without a closure, and one that asks for an input it has not") {
  const Tensor a = parameter(three());
  CHECK_THROWS_WITH(with({})(a, a), Contains("broken: recorded without a closure"));
  CHECK_THROWS_WITH(with([](const Array& dy, Gradients& into) {
                      for (std::size_t i = 0; i <= into.size(); ++i) into[i] += dy;
                    })(a, a)
                        .backward(ones({3})),
                    "backward: 'broken' asks for the gradient of input 2; the last is 1");
}
