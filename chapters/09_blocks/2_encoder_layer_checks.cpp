// Checks EncoderLayer::operator() against the two formulas, composed here of the layer's own
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

constexpr Index batch = 2, tokens = 5, width = 12;

const chapter::Names names{{"batch", "token", "channel"}, {}};

/// The layer, and the mistakes in it.
struct Way {
  enum class Norms { pre, post, behind, both } norms = Norms::pre;  // both: norm(x) + f(norm(x))
  bool masked = true, second_residual = true, raw_memory = false, norm1_twice = false;
  bool in_parallel = false, input_again = false, cut = false;
  enum class Drop { branch, sum, none } drop = Drop::branch;
};

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
  Way right() const { return {.norms = layer.norm_first ? Way::Norms::pre : Way::Norms::post}; }

  /// One half of the layer: f beside its residual path, which begins at `from`.
  template <class F>
  Tensor half(const Way& way, const Tensor& from, const Tensor& x, const Norm& norm,
              const Dropout& dropout, bool residual, F f) const {
    using Norms = Way::Norms;
    const bool first = way.norms == Norms::pre || way.norms == Norms::both;
    Tensor branch = f(first ? norm(x) : x);
    if (way.norms == Norms::behind) branch = norm(branch);
    if (way.drop == Way::Drop::branch) branch = dropout(branch);
    Tensor path = way.norms == Norms::both ? norm(from) : from;
    if (way.cut) path = path.detach();
    Tensor y = residual ? path + branch : branch;
    if (way.drop == Way::Drop::sum) y = dropout(y);
    return way.norms == Norms::post ? norm(y) : y;
  }
  Tensor composed(const Way& way, const Tensor& in) const {
    const AttentionMask seen = way.masked ? mask() : AttentionMask::none();
    const Tensor h = half(way, in, in, layer.norm1, layer.dropout1, true, [&](const Tensor& v) {
      return attend(layer.self_attn(), v, way.raw_memory ? in : v, seen, nullptr, nullptr);
    });
    const Norm& second = way.norm1_twice ? layer.norm1 : layer.norm2;
    if (way.in_parallel) {
      return h + layer.dropout2(layer.feed_forward(second(in)));
    }
    return half(way, way.input_again ? in : h, h, second, layer.dropout2, way.second_residual,
                [&](const Tensor& v) { return layer.feed_forward(v); });
  }
  std::function<Array()> result(const Way& way) const {
    return [this, way] {
      const NoGrad quiet;
      return composed(way, Tensor(x)).value();
    };
  }

  std::vector<chapter::Hypothesis> hypotheses() const {
    using Norms = Way::Norms;
    const auto change = [this](auto edit) {
      Way way = right();
      edit(way);
      return result(way);
    };
    std::vector<chapter::Hypothesis> list;
    if (layer.norm_first) {
      list.push_back({"norm_first is true, and this is post-norm: norm(x + f(x))",
                      change([](Way& w) { w.norms = Norms::post; })});
      list.push_back(
          {"the normalised x was added, not x: norm(x) + f(norm(x)). Then the residual "
           "path leads through a norm in every layer",
           change([](Way& w) { w.norms = Norms::both; })});
      list.push_back({"only the queries were normalised: keys and values come from norm(x), too",
                      change([](Way& w) { w.raw_memory = true; })});
    } else {
      list.push_back({"norm_first is false, and this is pre-norm: x + f(norm(x))",
                      change([](Way& w) { w.norms = Norms::pre; })});
    }
    list.push_back(
        {"the norm is behind f, inside the branch: x + norm(f(x)). That is neither of "
         "the two forms",
         change([](Way& w) { w.norms = Norms::behind; })});
    list.push_back(
        {"the second residual path is missing: feed-forward replaced h instead of "
         "adding to it",
         change([](Way& w) { w.second_residual = false; })});
    list.push_back({"norm1 was used in both halves; each half has its own norm",
                    change([](Way& w) { w.norm1_twice = true; })});
    list.push_back({"feed_forward got the input of the layer, not the result of the first half",
                    change([](Way& w) { w.in_parallel = true; })});
    list.push_back(
        {"the second residual path begins at the input of the layer; it begins at the "
         "result of the first half",
         change([](Way& w) { w.input_again = true; })});
    list.push_back({"the mask was lost: every token sees the later ones",
                    change([](Way& w) { w.masked = false; })});
    list.push_back(
        {"dropout1 and dropout2 were left out", change([](Way& w) { w.drop = Way::Drop::none; })});
    list.push_back(
        {"dropout was applied to the sum, so it tears holes into the residual path. It "
         "belongs to the branch alone",
         change([](Way& w) { w.drop = Way::Drop::sum; })});
    return list;
  }

  void compare() const {
    chapter::require_values([&] { return layer(Tensor(x), mask()); }, result(right())(), names,
                            hypotheses());
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
      const auto dx_of = [&](bool cut) {
        const Tensor x = parameter(c.x.clone());
        Way way = c.right();
        way.cut = cut;
        c.composed(way, x).backward(dy);
        return x.grad().clone();
      };
      const Tensor x = parameter(c.x);
      chapter::require_gradients(
          [&] { return c.layer(x, c.mask()); }, dy,
          {{"x",
            x,
            dx_of(false),
            {{"the residual path carries values but no gradient: detach() and value() take a "
              "tensor off the tape",
              [&] { return dx_of(true); }}}}},
          names);
      const auto expected = gradients(c, c.composed(c.right(), Tensor(c.x)), dy);
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
