// Checks DecoderLayer::operator() against the two formulas, composed here of the layer's own
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

constexpr Index batch = 2, tokens = 4, sources = 6, width = 12;

const chapter::Names names{{"batch", "token", "channel"}, {}};

struct Case {
  explicit Case(std::uint64_t seed, bool norm_first, Real dropout = 0)
      : rng(seed, "10/2"), layer(config(norm_first, dropout), rng) {
    for (NamedParameter& p : parameters(layer)) {
      p.tensor.set_value(normal(p.tensor.shape(), Real(0.3), rng));
    }
    for (Norm* norm : {&layer.norm1, &layer.norm2, &layer.norm3}) {
      Array weight = norm->weight.value().clone();
      for (Real& w : weight.span()) w += 1;
      norm->weight.set_value(weight);
    }
    layer.self_attn().set_location({AttentionKind::decoder_self, 0});
    layer.multihead_attn().set_location({AttentionKind::cross, 0});
    if (dropout == 0) layer.eval();
    x = random_array({batch, tokens, width}, rng);
    memory = random_array({batch, sources, width}, rng);
  }

  static BlockConfig config(bool norm_first, Real dropout) {
    return {.width = width, .heads = 3, .hidden = 16, .dropout = dropout, .norm_first = norm_first};
  }

  AttentionMask mask() const { return AttentionMask::causal(); }
  AttentionMask memory_mask() const { return AttentionMask::lengths(Ids({batch}, {3, 5})); }
  Tensor yours(const Tensor& in, const Tensor& mem) const {
    return layer(in, mem, mask(), memory_mask());
  }

  Tensor expected(const Tensor& in, const Tensor& mem) const {
    const auto half = [&](const Tensor& v, const Norm& norm, const Dropout& dropout, auto f) {
      return layer.norm_first ? v + dropout(f(norm(v))) : norm(v + dropout(f(v)));
    };
    const Tensor h1 = half(in, layer.norm1, layer.dropout1, [&](const Tensor& v) {
      return attend(layer.self_attn(), v, v, mask(), nullptr, nullptr);
    });
    const Tensor h2 = half(h1, layer.norm2, layer.dropout2, [&](const Tensor& v) {
      return attend(layer.multihead_attn(), v, mem, memory_mask(), nullptr, nullptr);
    });
    return half(h2, layer.norm3, layer.dropout3,
                [&](const Tensor& v) { return layer.feed_forward(v); });
  }

  void compare() const {
    const NoGrad quiet;
    chapter::require_values([&] { return yours(Tensor(x), Tensor(memory)); },
                            expected(Tensor(x), Tensor(memory)).value(), names);
  }

  Rng rng;
  mutable DecoderLayer layer;
  Array x, memory;
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

TEST_CASE("pre-norm: three halves", "[10/2]") { check_values(true); }

TEST_CASE("post-norm: three halves", "[10/2]") { check_values(false); }

TEST_CASE("gradients", "[10/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const bool norm_first : {true, false}) {
      Case c(seed, norm_first);
      const Array dy = random_array({batch, tokens, width}, c.rng);
      const Tensor in = parameter(c.x.clone()), mem = parameter(c.memory.clone());
      c.expected(in, mem).backward(dy);
      const Tensor heard = parameter(c.memory.clone()), y = c.yours(Tensor(c.x), heard);
      if (y.requires_grad()) y.backward(dy);
      chapter::require(!y.requires_grad() || heard.grad().defined(),
                       "no gradient arrived at memory, so the encoder would never learn: detach() "
                       "and value() take a tensor off the tape.");
      const Tensor x = parameter(c.x), memory = parameter(c.memory);
      chapter::require_gradients([&] { return c.yours(x, memory); }, dy,
                                 {{"x", x, in.grad()}, {"memory", memory, mem.grad()}}, names);
      const auto expected = gradients(c, c.expected(Tensor(c.x), Tensor(c.memory)), dy);
      const auto yours = gradients(c, c.yours(Tensor(c.x), Tensor(c.memory)), dy);
      for (std::size_t i = 0; i < yours.size(); ++i) {
        chapter::require_equal(fmt::format("the elements of the gradient of {}", yours[i].name),
                               expected[i].tensor.value(), yours[i].tensor.value());
      }
    }
  }
}

TEST_CASE("dropout, in training", "[10/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const bool norm_first : {true, false}) {
      const Case c(seed, norm_first, Real(0.4));
      const RandomStep step(seed, 7);
      c.compare();
    }
  }
}

TEST_CASE("the maps of both attentions", "[10/2]") {
  for (const bool norm_first : {true, false}) {
    Case c(1, norm_first);
    HeadProbe probe;
    probe.maps = true;
    c.layer(Tensor(c.x), Tensor(c.memory), c.mask(), c.memory_mask(), &probe);
    const auto check = [&](AttentionKind kind, const char* which) {
      const auto seen = probe.seen.find({kind, 0});
      chapter::require(seen != probe.seen.end() && seen->second.maps.defined(),
                       fmt::format("the map of {} never came: `probe` must reach attend(). "
                                   "Without it nobody can see where this layer looks.",
                                   which));
    };
    check(AttentionKind::decoder_self, "self-attention");
    check(AttentionKind::cross, "cross-attention");
  }
}

TEST_CASE("a cache: token by token gives the same", "[10/2]") {
  for (const bool norm_first : {true, false}) {
    const Case c(2, norm_first);
    const NoGrad quiet;
    const Array all = c.yours(Tensor(c.x), Tensor(c.memory)).value();
    DecoderLayerCache cache;
    cache.self.capacity = tokens;
    cache.cross.fixed = true;
    for (Index t = 0; t < tokens; ++t) {
      const AxisRange token{1, t, t + 1};
      const Tensor y = c.layer(Tensor(slice(c.x, token)), Tensor(c.memory),
                               AttentionMask::causal(t), c.memory_mask(), nullptr, &cache);
      chapter::require(
          cache.self.length == t + 1,
          fmt::format("after {} tokens the cache of self-attention is still empty: `own` must "
                      "reach attend(). Without it a token that is written sees none of those "
                      "before it.",
                      t + 1));
      chapter::require(cache.cross.length == sources,
                       "the cache of cross-attention is still empty: `cross` must reach attend(). "
                       "Without it keys and values of the source are computed again for every "
                       "token that is written.");
      chapter::require_equal(fmt::format("the outputs for token {}", t), slice(all, token),
                             y.value(), names);
    }
  }
}
