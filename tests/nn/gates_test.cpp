// Gates of heads against plain loops, their gradients against finite differences, errors.
#include "headroom/nn/gates.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "headroom/autograd/gradcheck.hpp"
#include "headroom/base/error.hpp"
#include "headroom/ops/dropout.hpp"
#include "support/catch.hpp"
#include "support/close.hpp"
#include "support/nn_support.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

constexpr Index batch = 2, queries = 3, heads = 4, head_dim = 5;
const Shape gate_shapes[] = {{heads}, {batch, heads}, {batch, heads, queries}};
const std::vector<Index> live_heads_of_cases[] = {{0, 1, 2, 3}, {0, 2, 3}, {1}};

/// The gate of an original head for query t of example b.
Real gate_of(const Array& gates, Index b, Index head, Index t) {
  switch (gates.rank()) {
    case 1: return gates[head];
    case 2: return gates[b * heads + head];
    default: return gates[(b * heads + head) * queries + t];
  }
}

}  // namespace

TEST_CASE(
    "apply_gates multiplies the columns of each live head by the gate of its original index") {
  Rng rng(1);
  for (const Shape& shape : gate_shapes) {
    for (const std::vector<Index>& alive : live_heads_of_cases) {
      const auto live = Index(alive.size());
      const Array y = normal({batch, queries, live * head_dim}, rng), gates = normal(shape, rng);
      Array expected(y.shape());
      Index at = 0;
      for (Index b = 0; b < batch; ++b) {
        for (Index t = 0; t < queries; ++t) {
          for (const Index head : alive) {
            for (Index d = 0; d < head_dim; ++d, ++at) {
              expected[at] = y[at] * gate_of(gates, b, head, t);
            }
          }
        }
      }
      const Tensor result = apply_gates(constant(y), constant(gates), alive, heads);
      CHECK_THAT(result.value(), SameBits(expected));
    }
  }
}

TEST_CASE("the gradients of gated heads and of gates are those of the values") {
  if (!is_double) return;  // finite differences need double
  Rng rng(2);
  for (const Shape& shape : gate_shapes) {
    for (const std::vector<Index>& alive : live_heads_of_cases) {
      const Array y = normal({batch, queries, Index(alive.size()) * head_dim}, rng);
      const auto result = gradcheck(
          [&](const std::vector<Tensor>& x) { return apply_gates(x[0], x[1], alive, heads); },
          {y, normal(shape, rng)});
      INFO(shape.text() << ", " << alive.size() << " heads: " << result.text());
      CHECK(result.passed);
    }
  }
}

TEST_CASE("the gates of removed heads have no effect and the gradient 0") {
  Rng rng(3);
  const std::vector<Index> alive = {0, 2, 3};
  const Tensor y = constant(normal({batch, queries, 3 * head_dim}, rng));
  for (const Shape& shape : gate_shapes) {
    Array gates = normal(shape, rng);
    const Array before = apply_gates(y, constant(gates), alive, heads).value();
    const auto head_of = [&](Index i) { return (shape.rank() == 3 ? i / queries : i) % heads; };
    for (Index i = 0; i < gates.size(); ++i) {
      if (head_of(i) == 1) gates[i] = 77;
    }
    Tensor changed = parameter(gates);
    const Tensor after = apply_gates(y, changed, alive, heads);
    CHECK_THAT(after.value(), SameBits(before));
    after.backward(normal(after.shape(), rng));
    for (Index i = 0; i < gates.size(); ++i) {
      CHECK((changed.grad()[i] == 0) == (head_of(i) == 1));
    }
  }
}

TEST_CASE("apply_gates refuses shapes that do not fit") {
  const std::vector<Index> alive = {0, 2};
  const auto apply = [&](const Shape& y, const Shape& gates) {
    return apply_gates(constant(zeros(y)), constant(ones(gates)), alive, 3);
  };
  CHECK_NOTHROW(apply({2, 4, 6}, {2, 3, 4}));
  for (const Shape& gates : {Shape{2}, Shape{3, 3}, Shape{1, 3}, Shape{2, 3, 1}, Shape{2, 2, 4}}) {
    CHECK_THROWS_WITH(apply({2, 4, 6}, gates),
                      "attention: gates " + gates.text() +
                          " must be [H], [B, H] or [B, H, Tq] with B = 2, H = 3, Tq = 4");
  }
  CHECK_THROWS_WITH(apply({2, 4, 5}, {3}),
                    "attention: y [2, 4, 5] must be [B, Tq, L D] with L = 2 live heads");
  CHECK_THROWS_AS(apply({8, 6}, {3}), ShapeError);
  CHECK_THROWS_AS(apply_gates(constant(zeros({2, 4, 6})), constant(ones({3})), {}, 3), ShapeError);
  const std::vector<Index> outside = {0, 3};
  CHECK_THROWS_AS(apply_gates(constant(zeros({2, 4, 6})), constant(ones({3})), outside, 3),
                  ShapeError);
}

TEST_CASE("a product of gates multiplies the gates of each head, example and query") {
  Rng rng(4);
  for (const Shape& left : gate_shapes) {
    for (const Shape& right : gate_shapes) {
      INFO(left.text() << " and " << right.text());
      const Array a = normal(left, rng), b = normal(right, rng);
      const Tensor product = product_of_gates(constant(a), constant(b));
      CHECK(product.rank() == std::max(left.rank(), right.rank()));
      for (Index example = 0; example < batch; ++example) {
        for (Index head = 0; head < heads; ++head) {
          for (Index t = 0; t < queries; ++t) {
            CHECK(gate_of(product.value(), example, head, t) ==
                  gate_of(a, example, head, t) * gate_of(b, example, head, t));
          }
        }
      }
    }
  }
  const Tensor gates = constant(normal({heads}, rng));
  CHECK(product_of_gates({}, gates).same(gates));
  CHECK(product_of_gates(gates, {}).same(gates));
  CHECK_THROWS_AS(product_of_gates(gates, constant(ones({batch, heads + 1}))), ShapeError);
}

TEST_CASE("gates of DropHead are 0 or 1 / (1 - p), unbiased, and independent") {
  constexpr Index examples = 500, steps = 40;
  const Real p = Real(0.3);
  double sum = 0, neighbours = 0;  // of gates; of gates of two heads of one example, less 1
  Array first;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const RandomStep random(7, step);
    const Array gates = drop_head_gates(examples, heads, p, 11).value();
    CHECK_THAT(drop_head_gates(examples, heads, p, 11).value(), SameBits(gates));
    CHECK_THAT(drop_head_gates(examples, heads, p, 12).value(), !SameBits(gates));
    if (step == 0) first = gates;
    CHECK((step == 0 || !SameBits(first).match(gates)));
    // The first examples of a batch, and the first heads, have the same gates in a larger one.
    const Array more = drop_head_gates(examples + 3, heads + 2, p, 11).value();
    for (Index b = 0; b < examples; ++b) {
      for (Index head = 0; head < heads; ++head) {
        const Real gate = gates[b * heads + head];
        REQUIRE((gate == 0 || gate == 1 / (1 - p)));
        REQUIRE(more[b * (heads + 2) + head] == gate);
        sum += double(gate);
        neighbours += double((gate - 1) * (gates[b * heads + (head + 1) % heads] - 1));
      }
    }
  }
  // The variance of a gate is p / (1 - p); bounds of four standard errors.
  const double variance = 0.3 / 0.7, count = double(examples * steps * heads);
  CHECK(std::abs(sum / count - 1) < 4 * std::sqrt(variance / count));
  CHECK(std::abs(neighbours / count) < 4 * variance / std::sqrt(count));

  const RandomStep random(7, 0);
  CHECK_THAT(drop_head_gates(2, heads, 0, 1).value(), SameBits(ones({2, heads})));
  CHECK_THROWS_AS(drop_head_gates(2, heads, 1, 1), UsageError);
  CHECK_THROWS_AS(drop_head_gates(2, heads, Real(-0.1), 1), UsageError);
}

TEST_CASE("DropHead draws other masks in every attention") {
  Rng rng(6);
  BlockConfig config;
  config.width = 12;
  config.heads = heads;
  Encoder encoder(config, 2, true, rng);
  randomise(encoder, rng);
  const Tensor x = constant(normal({8, 5, 12}, rng));
  const RandomStep random(3, 9);
  HeadProbe probe;
  probe.drop_head = Real(0.5);
  std::vector<Tensor> gates;
  for (const NamedAttention& found : attentions(encoder)) {
    gates.push_back(parameter(ones({8, heads})));
    probe.gates[found.location()] = gates.back();
  }
  const Tensor y = encoder(x, AttentionMask::none(), &probe);
  y.backward(normal(y.shape(), rng));
  Index differ = 0;  // heads that are left out in one of the two layers
  for (Index i = 0; i < 8 * heads; ++i) {
    differ += (gates[0].grad()[i] == 0) != (gates[1].grad()[i] == 0) ? 1 : 0;
  }
  CHECK(differ > 4);
}

TEST_CASE("DropHead leaves the survivors of a removed head as they were, in every layout") {
  Rng rng(5);
  const Tensor x = constant(normal({6, 5, 12}, rng));
  for (const Layout layout : all_layouts) {
    INFO(name_of(layout));
    const auto attention = make_attention(layout, {.width = 12, .heads = heads}, rng);
    randomise(*attention, rng);
    attention->name_streams("attention");
    const auto output = [&](Real p, const Tensor& gates) {
      const RandomStep random(3, 9);
      HeadProbe probe;
      probe.drop_head = p;
      if (gates.defined()) probe.gates[attention->location()] = gates;
      return attend(*attention, x, x, AttentionMask::causal(), &probe, nullptr).value();
    };
    Array without_two = ones({heads});
    without_two[2] = 0;
    const Array masked = output(Real(0.4), constant(without_two));
    CHECK_THAT(masked, !same_numbers(output(0, constant(without_two)), Real(1e-3)));
    CHECK_THAT(masked, !same_numbers(output(Real(0.4), {}), Real(1e-3)));
    const std::vector<Index> gone = {2};
    attention->prune(gone);
    CHECK_THAT(output(Real(0.4), {}), same_numbers(masked, same_function));
  }
}
