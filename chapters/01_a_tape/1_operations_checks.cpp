// Checks the product and tanh of the scalar tape: values, gradients, and that a number which is
// read twice gets two contributions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "common/checks.hpp"
#include "value.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using scalar::Node;
using scalar::Value;

constexpr Index points = 6;

/// The nodes from `root` down, the youngest first.
std::vector<Node*> nodes_below(Node* root) {
  std::vector<Node*> nodes{root};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const auto& input : nodes[i]->inputs) {
      if (std::find(nodes.begin(), nodes.end(), input.get()) == nodes.end()) {
        nodes.push_back(input.get());
      }
    }
  }
  std::sort(nodes.begin(), nodes.end(), [](Node* a, Node* b) { return a->number > b->number; });
  return nodes;
}

/// A backward pass of the checks, with dL/d(root) = dy.
void pass(const Value& root, Real dy) {
  root.node()->gradient = dy;
  for (Node* node : nodes_below(root.node().get())) {
    if (node->backward) node->backward(node->gradient, scalar::Gradients(node->inputs));
  }
}

void require_recorded(const Value& y, std::size_t inputs, const char* name) {
  const std::size_t own = y.node()->inputs.size();
  chapter::require(own > 0 && y.node()->backward,
                   fmt::format("{} is not recorded on the tape: return record(y, {{inputs}}, "
                               "backward).",
                               name));
  chapter::require(own == inputs, fmt::format("{} is recorded with {} input{}; it has {}.", name,
                                              own, own == 1 ? "" : "s", inputs));
}

/// Random numbers a, b and dy, and what an operation makes of them.
struct Case {
  explicit Case(std::uint64_t seed) {
    Rng rng(seed, "01/1");
    for (Array* array : {&a, &b, &dy}) *array = chapter::random_array({points}, rng);
  }
  /// An array by its formula for one point: [points, columns].
  template <class... Formulas>
  Array each(Formulas... formulas) const {
    constexpr Index columns = sizeof...(formulas);
    Array result({points, columns});
    for (Index i = 0; i < points; ++i) {
      Index c = 0;
      ((result[i * columns + c++] = formulas(a[i], b[i], dy[i])), ...);
    }
    return result;
  }
  Array a, b, dy;
};

const chapter::Names pairs{{"point", "input"}, {}}, singles{{"point", "input"}, {}};

}  // namespace

TEST_CASE("the value of a product", "[01/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    Array yours({points, 1});
    for (Index i = 0; i < points; ++i) yours[i] = (Value(c.a[i]) * Value(c.b[i])).value();
    chapter::require_equal("the values of a * b",
                           c.each([](Real a, Real b, Real) { return a * b; }), yours, singles);
  }
}

TEST_CASE("the gradients of a product", "[01/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    Array yours({points, 2});
    bool at_a = false, at_b = false;
    for (Index i = 0; i < points; ++i) {
      const Value a(c.a[i]), b(c.b[i]), y = a * b;
      require_recorded(y, 2, "a * b");
      pass(y, c.dy[i]);
      yours[2 * i] = a.grad();
      yours[2 * i + 1] = b.grad();
      at_a = at_a || a.grad() != 0;
      at_b = at_b || b.grad() != 0;
    }
    chapter::require(at_a && at_b,
                     fmt::format("no gradient arrived at {}: the closure of a * b adds nothing to "
                                 "it.",
                                 at_a   ? "b"
                                 : at_b ? "a"
                                        : "a and b"));
    chapter::require_equal("the gradients of a and b in a * b",
                           c.each([](Real, Real b, Real dy) { return dy * b; },
                                  [](Real a, Real, Real dy) { return dy * a; }),
                           yours, pairs);
  }
}

TEST_CASE("a number that is read twice: a * a, and a * b + a * a", "[01/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    Array square({points, 1}), both({points, 1});
    for (Index i = 0; i < points; ++i) {
      const Value a(c.a[i]), once(c.a[i]), b(c.b[i]);
      pass(once * once, c.dy[i]);
      square[i] = once.grad();
      pass(a * b + a * a, c.dy[i]);
      both[i] = a.grad();
    }
    chapter::require_equal("right for a * b, but the gradients of a in a * a",
                           c.each([](Real a, Real, Real dy) { return 2 * dy * a; }), square,
                           singles);
    chapter::require_equal("the gradients of a in a * b + a * a",
                           c.each([](Real a, Real b, Real dy) { return dy * (b + 2 * a); }), both,
                           singles);
  }
}

TEST_CASE("tanh", "[01/1]") {
  const auto slope = [](Real x) { return 1 - std::tanh(x) * std::tanh(x); };
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    Array values({points, 1}), gradients({points, 1}), twice({points, 1});
    bool arrived = false;
    for (Index i = 0; i < points; ++i) {
      const Value x(c.a[i]), again(c.a[i]), y = tanh(x);
      values[i] = y.value();
      require_recorded(y, 1, "tanh");
      pass(y, c.dy[i]);
      gradients[i] = x.grad();
      arrived = arrived || x.grad() != 0;
      pass(tanh(again) + tanh(again), c.dy[i]);
      twice[i] = again.grad();
    }
    chapter::require_equal("the values of tanh x",
                           c.each([](Real x, Real, Real) { return std::tanh(x); }), values,
                           singles);
    chapter::require(arrived, "no gradient arrived at x: the closure of tanh adds nothing to it.");
    chapter::require_equal("the gradients of x in tanh x",
                           c.each([&](Real x, Real, Real dy) { return dy * slope(x); }), gradients,
                           singles);
    chapter::require_equal("right for tanh x, but the gradients of x in tanh x + tanh x",
                           c.each([&](Real x, Real, Real dy) { return 2 * dy * slope(x); }), twice,
                           singles);
  }
}

TEST_CASE("tanh of large numbers", "[01/1]") {
  for (const Real size : {Real(400), Real(1000)}) {
    for (const Real sign : {Real(1), Real(-1)}) {
      const Value x(sign * size), y = tanh(x);
      pass(y, 1);
      chapter::require(
          !std::isnan(y.value()),
          fmt::format("tanh({}) is NaN. An exponential of so large a number is infinite, and "
                      "infinity divided by infinity is not a number. std::tanh takes every number.",
                      x.value()));
      chapter::require(std::abs(double(y.value() - sign)) <= chapter::tolerance,
                       fmt::format("tanh({}) is {:.6g}, expected {}.", x.value(), y.value(), sign));
      chapter::require(
          std::abs(double(x.grad())) <= chapter::tolerance,
          fmt::format("the gradient of x in tanh x is {:.6g} at x = {}, expected 0: the curve is "
                      "flat there.",
                      x.grad(), x.value()));
    }
  }
}

TEST_CASE("a chain of operations", "[01/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    Array yours({points, 2});
    for (Index i = 0; i < points; ++i) {
      const Value a(c.a[i]), b(c.b[i]), t = tanh(a * b + a);
      pass(t * b, c.dy[i]);
      yours[2 * i] = a.grad();
      yours[2 * i + 1] = b.grad();
    }
    chapter::require_equal("the gradients of a and b in tanh(a * b + a) * b",
                           c.each(
                               [](Real a, Real b, Real dy) {
                                 const Real t = std::tanh(a * b + a);
                                 return dy * b * (1 - t * t) * (b + 1);
                               },
                               [](Real a, Real b, Real dy) {
                                 const Real t = std::tanh(a * b + a);
                                 return dy * (t + b * (1 - t * t) * a);
                               }),
                           yours, pairs);
  }
}
