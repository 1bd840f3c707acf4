// Checks DecoderLayer::operator() against the two formulas, composed here of the layer's own
// members. The hypotheses compose them in another way.
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

/// The layer, and the mistakes in it.
struct Way {
  bool norm_first = true, causal = true, self_memory = false, cross_first = false;
  bool exchanged = false, memory_normed = false, memory_queries = false, dropped = true;
  bool residual[3] = {true, true, true}, normed[3] = {true, true, true};
  enum class Seen { lengths, all, causal } seen = Seen::lengths;
};

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
  Way right() const { return {.norm_first = layer.norm_first}; }
  Tensor yours(const Tensor& in, const Tensor& mem) const {
    return layer(in, mem, mask(), memory_mask());
  }

  Tensor composed(const Way& way, const Tensor& in, const Tensor& mem) const {
    const Norm* norms[] = {&layer.norm1, &layer.norm2, &layer.norm3};
    const Dropout* dropouts[] = {&layer.dropout1, &layer.dropout2, &layer.dropout3};
    const auto half = [&](int i, const Tensor& path, const Tensor& v, auto f) {
      const Norm& norm = *norms[i];
      const bool before = way.norm_first && way.normed[i];
      Tensor branch = f(before ? norm(v) : v);
      if (way.dropped) branch = (*dropouts[i])(branch);
      const Tensor sum = way.residual[i] ? path + branch : branch;
      return way.norm_first || !way.normed[i] ? sum : norm(sum);
    };
    const Attention& first = way.exchanged ? layer.multihead_attn() : layer.self_attn();
    const Attention& second = way.exchanged ? layer.self_attn() : layer.multihead_attn();
    const auto own = [&](const Tensor& v) {
      return half(0, v, v, [&](const Tensor& n) {
        return attend(first, n, n, way.causal ? mask() : AttentionMask::none(), nullptr, nullptr);
      });
    };
    const AttentionMask seen = way.seen == Way::Seen::lengths ? memory_mask()
                               : way.seen == Way::Seen::all   ? AttentionMask::none()
                                                              : mask();
    const auto cross = [&](const Tensor& v) {
      return half(1, way.memory_queries ? mem : v, v, [&](const Tensor& n) {
        if (way.self_memory) return attend(second, n, n, mask(), nullptr, nullptr);
        if (way.memory_queries) {
          return attend(second, mem, n, AttentionMask::none(), nullptr, nullptr);
        }
        return attend(second, n, way.memory_normed ? layer.norm2(mem) : mem, seen, nullptr,
                      nullptr);
      });
    };
    const Tensor h = way.cross_first ? own(cross(in)) : cross(own(in));
    return half(2, h, h, [&](const Tensor& n) { return layer.feed_forward(n); });
  }
  std::function<Array()> result(const Way& way) const {
    return [this, way] {
      const NoGrad quiet;
      return composed(way, Tensor(x), Tensor(memory)).value();
    };
  }

  std::vector<chapter::Hypothesis> hypotheses() const {
    std::vector<chapter::Hypothesis> list;
    const auto add = [&](const char* text, auto edit) {
      Way way = right();
      edit(way);
      list.push_back({text, result(way)});
    };
    add(layer.norm_first ? "norm_first is true, and this is post-norm: norm(x + f(x))"
                         : "norm_first is false, and this is pre-norm: x + f(norm(x))",
        [](Way& w) { w.norm_first = !w.norm_first; });
    add("the memory asks and the decoder's tokens answer: the output has a row for each token of "
        "the source. The queries of cross-attention are the decoder's",
        [](Way& w) { w.memory_queries = true; });
    add("cross-attention got its own tokens as memory: it is a second self-attention, and nothing "
        "of the source arrives",
        [](Way& w) { w.self_memory = true; });
    add("padding of the source is seen: memory_mask is for cross-attention",
        [](Way& w) { w.seen = Way::Seen::all; });
    add("the mask of the decoder was used for the source, too: the first token sees only the first "
        "token of the source, and the padding is seen by the last ones",
        [](Way& w) { w.seen = Way::Seen::causal; });
    add("every token sees the later ones: `mask` is for self-attention",
        [](Way& w) { w.causal = false; });
    add("cross-attention came first, then self-attention", [](Way& w) { w.cross_first = true; });
    add("the weights of self-attention and of cross-attention were exchanged: multihead_attn_ is "
        "the one that reads the memory",
        [](Way& w) { w.exchanged = true; });
    add("norm2 was applied to the memory, too. The encoder's output needs no norm here",
        [](Way& w) { w.memory_normed = true; });
    const char* parts[] = {"self-attention", "cross-attention", "feed-forward"};
    for (int i = 0; i < 3; ++i) {
      add("", [i](Way& w) { w.residual[i] = false; });
      list.back().looks_as_if = fmt::format(
          "the residual path around {} is missing: its result replaced what it was "
          "to be added to",
          parts[i]);
      add("", [i](Way& w) { w.normed[i] = false; });
      list.back().looks_as_if = fmt::format("norm{} is missing", i + 1);
    }
    add("dropout was left out: dropout1, dropout2 and dropout3 are for the three branches",
        [](Way& w) { w.dropped = false; });
    return list;
  }

  void compare() const {
    chapter::require_values([&] { return yours(Tensor(x), Tensor(memory)); }, result(right())(),
                            names, hypotheses());
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
      c.composed(c.right(), in, mem).backward(dy);
      const Tensor heard = parameter(c.memory.clone()), y = c.yours(Tensor(c.x), heard);
      if (y.requires_grad()) y.backward(dy);
      chapter::require(!y.requires_grad() || heard.grad().defined(),
                       "no gradient arrived at memory, so the encoder would never learn: detach() "
                       "and value() take a tensor off the tape.");
      const Tensor x = parameter(c.x), memory = parameter(c.memory);
      chapter::require_gradients([&] { return c.yours(x, memory); }, dy,
                                 {{"x", x, in.grad()}, {"memory", memory, mem.grad()}}, names);
      const auto expected = gradients(c, c.composed(c.right(), Tensor(c.x), Tensor(c.memory)), dy);
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
