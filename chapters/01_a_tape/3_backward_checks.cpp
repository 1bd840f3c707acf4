// Checks the backward pass of the scalar tape: a program of products and sums, the same program
// twice, two losses, and a number that everything reads.
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/checks.hpp"
#include "value.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using scalar::Gradients;
using scalar::Node;
using scalar::Value;

/// A product of the checks, so that exercise 01/1 is not needed.
Value times(const Value& a, const Value& b) {
  return scalar::record(a.value() * b.value(), {a, b}, [a, b](Real dy, const Gradients& into) {
    into[0] += dy * b.value();
    into[1] += dy * a.value();
  });
}

/// s = a + b; t = s a; u = t s, with s read twice. u = a (a + b)^2.
struct Program {
  Program(Real first, Real second) : a(first), b(second), s(a + b), t(times(s, a)), u(times(t, s)) {
    for (const auto& [value, name] : {std::pair(s, 's'), {t, 't'}, {u, 'u'}}) {
      scalar::Backward& closure = value.node()->backward;
      closure = [before = closure, calls = calls, name](Real dy, const Gradients& into) {
        *calls += name;
        before(dy, into);
      };
    }
  }
  /// Nodes from the root down; those of leaves last.
  std::vector<Node*> order() const {
    return {u.node().get(), t.node().get(), s.node().get(), b.node().get(), a.node().get()};
  }
  Real da() const { return s.value() * s.value() + 2 * t.value(); }
  Real db() const { return 2 * t.value(); }
  Array leaves() const { return Array({2}, {a.grad(), b.grad()}); }

  std::shared_ptr<std::string> calls = std::make_shared<std::string>();  // "uts"
  Value a, b, s, t, u;
};

/// Fails when no gradient got to the leaves, with the reason.
void require_arrival(const Program& p) {
  if (p.a.grad() != 0 || p.b.grad() != 0) return;
  std::string reason;
  if (*p.calls == "stu") {
    reason = "The closures ran in the opposite order, from the leaves to the root.";
  } else if (*p.calls == "u") {
    reason = "Only the closure of the root was called.";
  } else if (p.calls->empty()) {
    reason = "No closure was called.";
  } else if (p.u.grad() == 0) {
    reason = "The root's gradient is 0, so every closure passes on 0.";
  } else {
    reason = "A gradient that has arrived at a node must not be lost before it is passed on.";
  }
  FAIL("no gradient arrived at the leaves a and b. " << reason);
}

Program random_program(std::uint64_t seed) {
  Rng rng(seed, "01/3");
  return {rng.normal(), rng.normal()};
}

const chapter::Names names{{"leaf"}, {}};

Array pair(Real a, Real b) { return Array({2}, {a, b}); }

/// The answer's pass.
void run(const std::vector<Node*>& order) {
  try {
    scalar::backward(order);
  } catch (const std::bad_function_call&) {
    FAIL(
        "the closure of a leaf was called: a leaf has none, its node->backward is empty. Only "
        "nodes with inputs pass something on.");
  }
}

}  // namespace

TEST_CASE("the leaves of u = a (a + b)^2", "[01/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Program p = random_program(seed);
    run(p.order());
    require_arrival(p);
    const Real s = p.s.value(), t = p.t.value(), a = p.a.value();
    chapter::require_equal("the gradients of the leaves a and b", pair(p.da(), p.db()), p.leaves(),
                           names);
    const Real ds = t + s * a;
    chapter::require_equal("the gradients of u, t and s", Array({3}, {1, s, ds}),
                           Array({3}, {p.u.grad(), p.t.grad(), p.s.grad()}), {{"node"}, {}});
  }
}

TEST_CASE("the same program once more, after zero_grad", "[01/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Program p = random_program(seed);
    run(p.order());
    for (const Value& leaf : {p.a, p.b}) leaf.node()->gradient = 0;
    run(p.order());
    chapter::require_equal("right the first time, but in a second pass the gradients of the leaves",
                           pair(p.da(), p.db()), p.leaves(), names);
  }
}

TEST_CASE("two losses of the same leaves", "[01/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Program p = random_program(seed);
    run(p.order());
    const Value product = times(p.a, p.b);
    run({product.node().get(), p.b.node().get(), p.a.node().get()});
    const Real a = p.a.value(), b = p.b.value();
    chapter::require_equal("the sums of the gradients of two losses", pair(p.da() + b, p.db() + a),
                           p.leaves(), names);
  }
}

TEST_CASE("a root in the middle of a program", "[01/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Program p = random_program(seed);
    run({p.s.node().get(), p.b.node().get(), p.a.node().get()});
    chapter::require_equal("the gradients of a and b in s = a + b", pair(1, 1), p.leaves(), names);
  }
}

TEST_CASE("a root that is a leaf", "[01/3]") {
  const Value leaf(2);
  leaf.node()->gradient = 5;  // of an earlier loss
  run({leaf.node().get()});
  chapter::require(leaf.grad() != 1,
                   "a root that is a leaf lost what an earlier loss had added: its gradient was 5 "
                   "and is 1, expected 6. dL/dL is 1, and a leaf adds.");
  chapter::require(leaf.grad() == 6,
                   fmt::format("the gradient of a root that is a leaf was 5 and is {}, expected 6: "
                               "dL/dL is 1, and a leaf adds.",
                               leaf.grad()));
}
