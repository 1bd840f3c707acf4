// Checks EncoderLayer::operator() against the two formulas, composed here of the layer's own
// members.
#include <fmt/format.h>

#include "common/checks.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/nn/transformer.hpp"
#include "headroom/ops/ops.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

constexpr Index batch = 2, tokens = 5, width = 12;

const chapter::Names names{{"batch", "token", "channel"}, {}};

struct Case {
  explicit Case(std::uint64_t seed, bool norm_first, Real dropout = 0)
      : rng(seed, "09/2"), layer(config(norm_first, dropout), rng) {
    for (NamedParameter& p : parameters(layer)) {
      p.tensor.set_value(normal(p.tensor.shape(), Real(0.3), rng));
    }
    for (Norm* norm : {&layer.norm1, &layer.norm2}) {
      norm->weight.set_value(add_one(norm->weight.value()));
    }
    if (dropout == 0) layer.eval();
    x = random_array({batch, tokens, width}, rng);
  }

  static BlockConfig config(bool norm_first, Real dropout) {
    return {.width = width, .heads = 3, .hidden = 16, .dropout = dropout, .norm_first = norm_first};
  }
  static Array add_one(const Array& a) {
    Array sum = a.clone();
    for (Index i = 0; i < sum.size(); ++i) sum[i] += 1;
    return sum;
  }

  AttentionMask mask() const { return AttentionMask::causal(); }
  Tensor expected(const Tensor& in) const {
    const auto attention = [&](const Tensor& v) {
      return attend(layer.self_attn(), v, v, mask(), nullptr, nullptr);
    };
    if (layer.norm_first) {
      const Tensor h = in + layer.dropout1(attention(layer.norm1(in)));
      return h + layer.dropout2(layer.feed_forward(layer.norm2(h)));
    }
    const Tensor h = layer.norm1(in + layer.dropout1(attention(in)));
    return layer.norm2(h + layer.dropout2(layer.feed_forward(h)));
  }
  void compare() const {
    const NoGrad quiet;
    chapter::require_values([&] { return layer(Tensor(x), mask()); }, expected(Tensor(x)).value(),
                            names);
  }

  Rng rng;
  mutable EncoderLayer layer;
  Array x;
};

void check_values(bool norm_first) {
  for (const std::uint64_t seed : chapter::seeds) Case(seed, norm_first).compare();
}

/// The gradients of all parameters after a backward pass from dy.
std::vector<NamedParameter> gradients(Case& c, const Tensor& y, const Array& dy) {
  zero_grad(c.layer);
  y.backward(dy);
  std::vector<NamedParameter> result;
  for (const NamedParameter& p : parameters(c.layer)) {
    result.push_back({p.name, Tensor(p.tensor.grad().defined() ? p.tensor.grad().clone()
                                                               : zeros(p.tensor.shape()))});
  }
  return result;
}

}  // namespace

TEST_CASE("pre-norm: x + f(norm(x)), twice", "[09/2]") { check_values(true); }

TEST_CASE("post-norm: norm(x + f(x)), twice", "[09/2]") { check_values(false); }

TEST_CASE("gradients", "[09/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const bool norm_first : {true, false}) {
      Case c(seed, norm_first);
      const Array dy = random_array({batch, tokens, width}, c.rng);
      const Tensor same = parameter(c.x.clone());
      c.expected(same).backward(dy);
      const Tensor x = parameter(c.x);
      chapter::require_gradients([&] { return c.layer(x, c.mask()); }, dy,
                                 {{"x", x, same.grad().clone()}}, names);
      const auto expected = gradients(c, c.expected(Tensor(c.x)), dy);
      const auto yours = gradients(c, c.layer(Tensor(c.x), c.mask()), dy);
      for (std::size_t i = 0; i < yours.size(); ++i) {
        chapter::require_equal(fmt::format("the elements of the gradient of {}", yours[i].name),
                               expected[i].tensor.value(), yours[i].tensor.value());
      }
    }
  }
}

TEST_CASE("dropout, in training", "[09/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const bool norm_first : {true, false}) {
      const Case c(seed, norm_first, Real(0.4));
      const RandomStep step(seed, 7);
      c.compare();
    }
  }
}

TEST_CASE("the maps that somebody asks for", "[09/2]") {
  for (const bool norm_first : {true, false}) {
    Case c(1, norm_first);
    c.layer.self_attn().set_location({AttentionKind::encoder_self, 3});
    HeadProbe probe;
    probe.maps = true;
    c.layer(Tensor(c.x), c.mask(), &probe);
    const auto seen = probe.seen.find({AttentionKind::encoder_self, 3});
    chapter::require(seen != probe.seen.end() && seen->second.maps.defined(),
                     "the maps that were asked for never came: `probe` must reach attend(). "
                     "Without it nobody can look at the heads of this layer.");
  }
}

TEST_CASE("a cache: token by token gives the same", "[09/2]") {
  for (const bool norm_first : {true, false}) {
    const Case c(2, norm_first);
    const NoGrad quiet;
    const Array all = c.layer(Tensor(c.x), c.mask()).value();
    KeyValueCache cache;
    cache.capacity = tokens;
    for (Index t = 0; t < tokens; ++t) {
      const AxisRange token{1, t, t + 1};
      const Tensor y =
          c.layer(Tensor(slice(c.x, token)), AttentionMask::causal(t), nullptr, &cache);
      chapter::require(cache.length == t + 1,
                       fmt::format("after {} tokens the cache is still empty: `cache` must reach "
                                   "attend(). Without it a token that is written sees none of "
                                   "those before it.",
                                   t + 1));
      chapter::require_equal(fmt::format("the outputs for token {}", t), slice(all, token),
                             y.value(), names);
    }
  }
}
