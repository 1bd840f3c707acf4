// Attention in every layout: gates, maps, head outputs, masks, layers without heads.
#include "headroom/nn/attention.hpp"

#include <cmath>

#include "headroom/autograd/gradcheck.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/ops/ops.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

/// A case that every layout supports, and a layer for it.
struct Scene {
  Scene(Layout layout, std::uint64_t seed) : c(random_case(seed, true)) {
    Rng rng(seed);
    layer = make_attention(layout, c.config, rng);
    randomise(*layer, rng);
  }
  AttentionCase c;
  std::unique_ptr<Attention> layer;
};

AttentionAsk everything() {
  AttentionAsk ask;
  ask.maps = ask.head_out = ask.rows = true;
  return ask;
}

Tensor bias_of(Attention& layer) {
  for (auto& [name, tensor] : parameters(layer)) {
    if (name.ends_with("out.bias") || name.ends_with("out_proj.bias")) return tensor;
  }
  return {};
}

/// Flattens several tensors into one, for gradcheck.
Tensor in_a_row(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> flat;
  for (const Tensor& tensor : tensors) flat.push_back(reshape(tensor, {-1}));
  return concat(flat, 0);
}

}  // namespace

TEST_CASE("what is asked for changes nothing in y or in the gradients") {
  for (const Layout layout : all_layouts) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Scene s(layout, seed);
      INFO(name_of(layout) << ", seed " << seed);
      const Array y = run(*s.layer, s.c).y.value();
      const Array query = s.c.query.grad();
      const HeadBlocks gradients = head_gradients(*s.layer);
      zero_grad(*s.layer);
      const AttentionOut out = run(*s.layer, s.c, everything());
      CHECK_THAT(out.y.value(), same_numbers(y, same_function));
      CHECK_THAT(s.c.query.grad(), same_numbers(query, tolerance(1e-11, 2e-5)));
      check_same_blocks(head_gradients(*s.layer), gradients, tolerance(1e-11, 2e-5));
    }
  }
}

TEST_CASE("maps are rows of probabilities, zero where the mask forbids, and rows describes them") {
  for (const Layout layout : all_layouts) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Scene s(layout, seed);
      INFO(name_of(layout) << ", seed " << seed);
      const AttentionOut out = run(*s.layer, s.c, everything());
      const Array& maps = out.maps.value();
      const Index batch = maps.dim(0), heads = maps.dim(1), queries = maps.dim(2);
      const Index keys = maps.dim(3);
      REQUIRE(maps.shape() ==
              Shape{s.c.query.dim(0), s.c.config.heads, s.c.query.dim(1), s.c.key.dim(1)});
      const Bytes allowed = s.c.mask.bytes(batch, s.layer->alive(), queries, keys);
      for (Index row = 0; row < batch * heads * queries; ++row) {
        double sum = 0, entropy = 0, largest = 0;
        bool any = false;
        for (Index j = 0; j < keys; ++j) {
          const double p = double(maps[row * keys + j]);
          if (allowed[row * keys + j] == 0) CHECK(p == 0);
          any = any || allowed[row * keys + j] != 0;
          sum += p;
          if (p > 0) entropy -= p * std::log(p);
          largest = std::max(largest, p);
        }
        const double close = is_double ? 1e-12 : 3e-6;
        CHECK(std::abs(sum - (any ? 1 : 0)) < close);
        CHECK(std::abs(entropy - double(out.rows.entropy[row])) < close);
        CHECK(std::abs(largest - double(out.rows.maximum[row])) < close);
      }
    }
  }
}

TEST_CASE("the layer is the sum of its gated heads through their own output columns, plus a bias") {
  for (const Layout layout : all_layouts) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Scene s(layout, seed);
      INFO(name_of(layout) << ", seed " << seed);
      const Index heads = s.c.config.heads, d = s.c.config.head_dim;
      s.c.gates = seed % 2 == 0 ? Tensor() : s.c.gates;
      const AttentionOut out = run(*s.layer, s.c, everything());
      const HeadBlocks blocks = head_values(*s.layer);
      Tensor sum = constant(zeros(out.y.shape()));
      for (Index h = 0; h < heads; ++h) {
        Tensor head = slice(out.head_out, 1, h, h + 1);  // [B, 1, Tq, D]
        if (s.c.gates.defined()) {
          const int axis = s.c.gates.rank() == 1 ? 0 : 1;
          Tensor gate = slice(s.c.gates, axis, h, h + 1);
          if (gate.rank() == 2) gate = reshape(gate, {gate.dim(0), 1, 1, 1});
          if (gate.rank() == 3) gate = reshape(gate, {gate.dim(0), 1, gate.dim(2), 1});
          head = head * gate;
        }
        const Tensor columns = constant(blocks.at({HeadRole::output, h}));
        sum = sum + linear(reshape(head, {head.dim(0), head.dim(2), d}), columns);
      }
      const Tensor bias = bias_of(*s.layer);
      if (bias.defined()) sum = sum + bias;
      CHECK_THAT(sum.value(), same_numbers(out.y.value(), tolerance(1e-12, 4e-6)));
    }
  }
}

TEST_CASE(
    "gradients by inputs and gates are those of the values, through y, maps and head outputs") {
  if (!is_double) return;  // finite differences need double
  for (const Layout layout : all_layouts) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      Scene s(layout, seed);
      INFO(name_of(layout) << ", seed " << seed);
      const bool self = s.c.query.same(s.c.key), with_gates = s.c.gates.defined();
      std::vector<Array> inputs{s.c.query.value()};
      if (!self) inputs.push_back(s.c.key.value());
      if (!self) inputs.push_back(s.c.value.value());
      if (with_gates) inputs.push_back(s.c.gates.value());
      const auto function = [&](const std::vector<Tensor>& x, bool all) {
        AttentionAsk ask;
        ask.maps = ask.head_out = all;
        if (with_gates) ask.gates = x.back();
        const AttentionOut out = self ? (*s.layer)(x[0], x[0], x[0], s.c.mask, ask)
                                      : (*s.layer)(x[0], x[1], x[2], s.c.mask, ask);
        return all ? in_a_row({out.y, out.maps, out.head_out}) : out.y;
      };
      for (const bool all : {false, true}) {
        const auto result =
            gradcheck([&](const std::vector<Tensor>& x) { return function(x, all); }, inputs);
        INFO(result.text());
        CHECK(result.passed);
      }
    }
  }
}

TEST_CASE("a gate of zero removes a head, and gates of removed heads are ignored") {
  for (const Layout layout : all_layouts) {
    AttentionConfig config;
    config.width = 12;
    config.heads = 4;
    Rng rng(4);
    const auto layer = make_attention(layout, config, rng);
    randomise(*layer, rng);
    const Tensor x = constant(test::normal({3, 5, 12}, rng));
    for (const Shape& shape : {Shape{4}, Shape{3, 4}, Shape{3, 4, 5}}) {
      Rng again(9);
      const auto pruned = make_attention(layout, config, again);
      copy_parameters(*layer, *pruned);
      const Index gone[] = {1, 3};
      pruned->prune(gone);
      AttentionAsk shut, open;
      Array gates(shape, Real(1)), odd(shape, Real(1));
      for (Index i = 0; i < gates.size(); ++i) {
        const Index head = (shape.rank() == 3 ? i / 5 : i) % 4;
        if (head % 2 == 1) gates[i] = 0;
        if (head % 2 == 1) odd[i] = 77;  // must not matter
      }
      shut.gates = constant(gates);
      open.gates = parameter(odd);
      const AttentionOut a = (*layer)(x, x, x, AttentionMask::causal(), shut);
      const AttentionOut b = (*pruned)(x, x, x, AttentionMask::causal(), open);
      CHECK_THAT(b.y.value(), same_numbers(a.y.value(), same_function));
      b.y.backward(test::normal(b.y.shape(), rng));
      REQUIRE(open.gates.grad().shape() == shape);
      for (Index i = 0; i < gates.size(); ++i) {
        const Index head = (shape.rank() == 3 ? i / 5 : i) % 4;
        CHECK((open.gates.grad()[i] == 0) == (head % 2 == 1));
      }
    }
  }
}

TEST_CASE("a row that may attend to nothing gets the output bias and passes no gradient on") {
  for (const Layout layout : all_layouts) {
    for (const bool ask_maps : {false, true}) {
      AttentionConfig config;
      config.width = 8;
      config.heads = 2;
      Rng rng(6);
      const auto layer = make_attention(layout, config, rng);
      randomise(*layer, rng);
      const Tensor query = parameter(test::normal({2, 3, 8}, rng));
      const Tensor memory = parameter(test::normal({2, 4, 8}, rng));
      const AttentionMask mask = AttentionMask::lengths(Ids({2}, {0, 4}));  // example 0: nothing
      AttentionAsk ask;
      ask.maps = ask_maps;
      const AttentionOut out = (*layer)(query, memory, memory, mask, ask);
      const Tensor bias = bias_of(*layer);
      for (Index i = 0; i < 3 * 8; ++i) CHECK(out.y.value()[i] == bias.value()[i % 8]);
      out.y.backward(test::normal(out.y.shape(), rng));
      for (Index i = 0; i < 3 * 8; ++i) CHECK(query.grad()[i] == 0);
      for (Index i = 0; i < 4 * 8; ++i) CHECK(memory.grad()[i] == 0);
      CHECK(all_finite(query.grad()));
      CHECK(all_finite(memory.grad()));
      for (auto& [name, tensor] : parameters(*layer)) CHECK(all_finite(tensor.grad()));
    }
  }
}

TEST_CASE("a layer without heads returns its output bias, and without bias zeros") {
  for (const Layout layout : all_layouts) {
    for (const bool bias : {true, false}) {
      INFO(name_of(layout) << ", bias " << bias);
      AttentionConfig config;
      config.width = 6;
      config.heads = 3;
      config.bias = bias;
      Rng rng(7);
      const auto layer = make_attention(layout, config, rng);
      randomise(*layer, rng);
      const Index all[] = {0, 1, 2};
      layer->prune(all);
      CHECK(layer->alive().empty());
      const Tensor x = parameter(test::normal({2, 4, 6}, rng));
      const AttentionOut out = (*layer)(x, x, x, AttentionMask::none(), everything());
      REQUIRE(out.y.shape() == Shape{2, 4, 6});
      const Array cotangent = test::normal({2, 4, 6}, rng);
      for (Index i = 0; i < 2 * 4 * 6; ++i) {
        CHECK(out.y.value()[i] == (bias ? bias_of(*layer).value()[i % 6] : Real(0)));
      }
      if (!bias) continue;
      out.y.backward(cotangent);
      for (Index c = 0; c < 6; ++c) {
        double sum = 0;
        for (Index i = c; i < 2 * 4 * 6; i += 6) sum += double(cotangent[i]);
        CHECK(std::abs(double(bias_of(*layer).grad()[c]) - sum) < 1e-5);
      }
    }
  }
}

TEST_CASE("a cache shows what is filled, no more, and a fixed one stays what it was") {
  for (const Layout layout : all_layouts) {
    AttentionConfig config;
    config.width = 6;
    config.heads = 2;
    Rng rng(10);
    const auto layer = make_attention(layout, config, rng);
    randomise(*layer, rng);
    const NoGrad quiet;
    const Tensor x = constant(test::normal({2, 5, 6}, rng));
    const Tensor first = slice(x, 1, 0, 3), rest = slice(x, 1, 3, 5);
    KeyValueCache cache;
    cache.capacity = 9;
    (*layer)(first, first, first, AttentionMask::none(), {}, &cache);
    const Tensor y = (*layer)(rest, rest, rest, AttentionMask::none(), {}, &cache).y;
    CHECK(cache.length == 5);
    CHECK_THAT(y.value(),
               same_numbers((*layer)(rest, x, AttentionMask::none()).value(), same_function));
    CHECK_THROWS_WITH((*layer)(x, x, x, AttentionMask::none(), {}, &cache),
                      Catch::Contains("has 9 positions: 5 are used and 5 more do not fit"));

    KeyValueCache memory;
    memory.fixed = true;
    (*layer)(first, x, x, AttentionMask::none(), {}, &memory);
    const Tensor again = (*layer)(rest, first, first, AttentionMask::none(), {}, &memory).y;
    CHECK(memory.length == 5);
    CHECK_THAT(again.value(), same_numbers(y.value(), same_function));
  }
}

TEST_CASE("wrong calls are refused with what they got and what they need") {
  AttentionConfig config;
  config.width = 6;
  config.heads = 2;
  for (const Layout layout : all_layouts) {
    Rng rng(8);
    const auto layer = make_attention(layout, config, rng);
    const Tensor x = constant(test::normal({2, 4, 6}, rng));
    AttentionAsk ask;
    ask.gates = constant(ones({3}));
    CHECK_THROWS_WITH((*layer)(x, x, x, AttentionMask::none(), ask), Catch::Contains("gates [3]"));
    ask.gates = constant(ones({3, 2}));
    CHECK_THROWS_AS((*layer)(x, x, x, AttentionMask::none(), ask), ShapeError);
    const Tensor narrow = constant(test::normal({2, 4, 5}, rng));
    CHECK_THROWS_AS((*layer)(narrow, narrow, AttentionMask::none()), ShapeError);
    CHECK_THROWS_AS((*layer)(x, x, AttentionMask::lengths(Ids({3}, 1))), ShapeError);
    KeyValueCache cache;
    CHECK_THROWS_WITH((*layer)(x, x, x, AttentionMask::none(), {}, &cache),
                      Catch::Contains("NoGrad"));
    const Index missing[] = {2};
    CHECK_THROWS_WITH(layer->prune(missing), Catch::Contains("head 2 is not alive"));
    const Index gone[] = {0};
    layer->prune(gone);
    CHECK_THROWS_WITH(layer->prune(gone), Catch::Contains("head 0 is not alive; alive are 1"));
  }
}
