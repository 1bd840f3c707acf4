// check_layout: accepts every registered layout, and names the law that a planted mistake breaks.
#include "headroom/surgery/check_layout.hpp"

#include "headroom/algebra/algebra.hpp"
#include "headroom/base/error.hpp"
#include "headroom/nn/separate_heads.hpp"
#include "headroom/ops/ops.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"
#include "support/own_layouts.hpp"

using namespace headroom;
using namespace headroom::test;
using Catch::Matchers::Contains;

namespace {

enum class Mistake {
  state,
  one_tensor_for_two,
  no_queries_alone,
  position_forgotten,
  mean_over_rows,
  bias_left_out,
  slice_twice,
  slice_of_nothing,
  removed_head_listed,
  heads_out_of_order,
  no_slices_without_key,
  key_called_value,
  output_of_all,
  half_a_head,
  queries_exchanged,
  scaled_by_live,
  bias_of_live_heads,
  own_random_numbers,
  bias_twice_without_heads,
  other_layout,
  key_cut_off,
  gradient_doubled,
};

/// Fused heads with one mistake.
template <Mistake mistake>
class Faulty : public TurnedHeads {
 public:
  Faulty(const AttentionConfig& config, Rng& rng) : TurnedHeads(config, rng) {
    static Index built = 0;
    if (mistake == Mistake::own_random_numbers) out_proj.weight.edit_value()[0] = Real(++built);
  }
  static Layout registered() {
    static const Layout layout =
        add_layout("faulty " + std::to_string(int(mistake)), "of this test", factory<Faulty>());
    return layout;
  }
  Layout layout() const override {
    return mistake == Mistake::other_layout ? Layout::fused : registered();
  }
  Tensor score_bias(Index, Index, Index) const override {
    return mistake == Mistake::bias_of_live_heads ? constant(ones({live()})) : Tensor();
  }
  std::vector<HeadSlice> head_slices() const override {
    std::vector<HeadSlice> slices = TurnedHeads::head_slices();
    const auto bias = std::ranges::find(slices, HeadRole::output_bias, &HeadSlice::role);
    const auto of_role = [&](HeadRole role) {
      std::vector<HeadSlice*> found;
      for (HeadSlice& slice : slices) {
        if (slice.role == role) found.push_back(&slice);
      }
      return found;
    };
    switch (mistake) {
      case Mistake::bias_left_out: slices.erase(bias); break;
      case Mistake::slice_twice: slices.push_back(slices.front()); break;
      case Mistake::slice_of_nothing:
        slices.push_back({HeadRole::extra, HeadSlice::of_none, "nothing", 0, 0, 1});
        break;
      case Mistake::removed_head_listed:
        for (HeadSlice* const slice : of_role(HeadRole::query)) {
          if (slice->head == 1) slice->head = 0;
        }
        break;
      case Mistake::heads_out_of_order:
        if (live() > 1) std::swap(*of_role(HeadRole::output)[0], *of_role(HeadRole::output)[1]);
        break;
      case Mistake::no_slices_without_key:
        if (live() < config().heads) throw UsageError("a head is missing");
        break;
      case Mistake::key_called_value:
        for (HeadSlice* const slice : of_role(HeadRole::key)) slice->role = HeadRole::value;
        break;
      case Mistake::output_of_all:
        for (HeadSlice* const slice : of_role(HeadRole::output)) slice->head = HeadSlice::of_all;
        break;
      case Mistake::half_a_head:
        if (live() == config().heads) {
          of_role(HeadRole::query)[0]->end -= 1;
          of_role(HeadRole::query)[1]->begin -= 1;
        }
        break;
      case Mistake::queries_exchanged:
        if (live() > 1) {
          const auto queries = of_role(HeadRole::query);
          std::swap(queries[0]->begin, queries[1]->begin);
          std::swap(queries[0]->end, queries[1]->end);
        }
        break;
      default: break;
    }
    return slices;
  }

 protected:
  Projections project(const Tensor& query, const Tensor& key, const Tensor& value,
                      Index first) const override {
    if (mistake == Mistake::no_queries_alone && !key.defined()) throw UsageError("no key");
    if (mistake == Mistake::position_forgotten) first = 0;
    if (mistake == Mistake::one_tensor_for_two && key.defined() && key.same(value)) {
      return TurnedHeads::project(query, key, query.same(key) ? value : value * Real(2), first);
    }
    if (mistake == Mistake::key_cut_off && key.defined()) {
      return TurnedHeads::project(query, key.detach(), value, first);
    }
    if (mistake == Mistake::mean_over_rows) {
      const Tensor less = query - reshape(mean(query, {1}), {query.dim(0), 1, query.dim(2)});
      return TurnedHeads::project(less, key, value, first);
    }
    return TurnedHeads::project(query, key, value, first);
  }
  Tensor combine(const Tensor& heads, const Tensor& query) const override {
    const Tensor y = TurnedHeads::combine(heads, query);
    switch (mistake) {
      case Mistake::state: return y * Real(++calls_);
      case Mistake::scaled_by_live: return y * (Real(live()) / Real(config().heads));
      case Mistake::bias_twice_without_heads: return live() == 0 ? y * Real(2) : y;
      case Mistake::gradient_doubled: return y + (y - y.detach());
      default: return y;
    }
  }

 private:
  mutable Index calls_ = 0;
};

/// Rotary positions without a parameter that tells them from fused heads.
class HiddenPositions : public TurnedHeads {
 public:
  using TurnedHeads::TurnedHeads;
  static Layout registered() {
    static const Layout layout = add_layout("hidden", "of this test", factory<HiddenPositions>());
    return layout;
  }
  Layout layout() const override { return registered(); }
  std::vector<HeadSlice> head_slices() const override { return FusedHeads::head_slices(); }
  void members(Members& visit) override { FusedHeads::members(visit); }
};

/// Separate heads named by their position among the live ones.
class RenamedHeads : public SeparateHeads {
 public:
  using SeparateHeads::SeparateHeads;
  static Layout registered() {
    static const Layout layout = add_layout("renamed", "of this test", factory<RenamedHeads>());
    return layout;
  }
  Layout layout() const override { return registered(); }
  std::vector<HeadSlice> head_slices() const override {
    std::vector<HeadSlice> slices = SeparateHeads::head_slices();
    for (HeadSlice& slice : slices) {
      if (slice.role > HeadRole::value_bias) continue;
      const Index position = std::ranges::find(alive(), slice.head) - alive().begin();
      const std::size_t dot = slice.name.find('.') + 1;
      slice.name.replace(dot, slice.name.find('.', dot) - dot, std::to_string(position));
    }
    return slices;
  }
  void members(Members& visit) override {
    visit("query", query);
    visit("key", key);
    visit("value", value);
    visit("out", out);
  }
};

/// Separate heads whose modules are dropped and do not come back.
class LostHeads : public SeparateHeads {
 public:
  using SeparateHeads::SeparateHeads;
  static Layout registered() {
    static const Layout layout = add_layout("lost", "of this test", factory<LostHeads>());
    return layout;
  }
  Layout layout() const override { return registered(); }

 private:
  void add_modules(std::span<const Index>) override {}
};

/// Queries times a temperature that must be positive, and a gate with a kink for each feature.
class GatedHeads : public FusedHeads {
 public:
  GatedHeads(const AttentionConfig& config, Rng& rng)
      : FusedHeads(config, rng),
        temperatures(parameter(ones({2}))),
        gate(parameter(normal({config.heads * head_dim(), config.width}, rng))) {}
  static Layout registered() {
    static const Layout layout = add_layout("gated", "of this test", factory<GatedHeads>());
    return layout;
  }
  Layout layout() const override { return registered(); }
  void members(Members& visit) override {
    FusedHeads::members(visit);
    visit("temperatures", temperatures);
    visit("gate", gate);
  }
  std::vector<HeadSlice> head_slices() const override {
    std::vector<HeadSlice> slices = FusedHeads::head_slices();
    slices.push_back({HeadRole::extra, HeadSlice::of_none, "temperatures", 0, 0, 2});
    for (Index i = 0; i < live(); ++i) {
      slices.push_back({HeadRole::extra, alive()[std::size_t(i)], "gate", 0, i * head_dim(),
                        (i + 1) * head_dim()});
    }
    return slices;
  }
  Tensor temperatures, gate;

 protected:
  Projections project(const Tensor& query, const Tensor& key, const Tensor& value,
                      Index first) const override {
    return FusedHeads::project(query * mean(sqrt(temperatures)), key, value, first);
  }
  Tensor combine(const Tensor& heads, const Tensor& query) const override {
    const Tensor gated = live() == 0 ? heads : heads * relu(linear(query, gate, {}));
    return FusedHeads::combine(gated, query);
  }
};

void check(Layout layout, const AttentionConfig& config) {
  Rng rng(1);
  INFO(name_of(layout));
  const auto attention = make_attention(layout, config, rng);
  const Array before = parameters(*attention).front().tensor.value().clone();
  CHECK_NOTHROW(check_layout(*attention));
  CHECK(std::ssize(attention->alive()) == config.heads);
  CHECK_THAT(parameters(*attention).front().tensor.value(), SameBits(before));
}

/// The error of check_layout() for a layout, or "".
std::string verdict(Layout layout, Index heads = 3) {
  Rng rng(1);
  const auto attention = make_attention(layout, {.width = 6, .heads = heads, .head_dim = 2}, rng);
  try {
    check_layout(*attention);
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

template <Mistake mistake>
std::string verdict_on() {
  if (mistake != Mistake::other_layout) return verdict(Faulty<mistake>::registered());
  Rng rng(1);
  const Faulty<mistake> attention({.width = 6, .heads = 3}, rng);
  try {
    check_layout(attention);
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("every registered layout keeps the laws") {
  own_layouts();
  for (const LayoutInfo& info : layout_list()) {
    if (info.summary == "of this test") continue;
    check(info.layout, {.width = 8, .heads = 4});
    check(info.layout, {.width = 6, .heads = 3, .bias = info.layout == one_key_layout()});
    check(info.layout, {.width = 2, .heads = 1});
    if (info.layout == Layout::shared) continue;
    check(info.layout, {.width = 5, .heads = 6, .head_dim = 2, .key_width = 3, .value_width = 4});
  }
}

TEST_CASE("check_layout accepts kinks, and parameters that must be positive") {
  for (const Index heads : {1, 2, 3, 4}) CHECK(verdict(GatedHeads::registered(), heads) == "");
}

TEST_CASE("check_layout names the law that a mistake breaks") {
  CHECK_THAT(verdict_on<Mistake::state>(), Contains("breaks law 1: two equal calls"));
  CHECK_THAT(verdict_on<Mistake::one_tensor_for_two>(),
             Contains("breaks law 1: key and value as one tensor"));
  CHECK_THAT(verdict_on<Mistake::no_queries_alone>(),
             Contains("breaks law 2:") && Contains("no key"));
  CHECK_THAT(verdict_on<Mistake::position_forgotten>(),
             Contains("breaks law 3: all heads: decoded from a cache, rows [3, 4)"));
  CHECK_THAT(verdict_on<Mistake::mean_over_rows>(), Contains("breaks law 3:"));
  CHECK_THAT(
      verdict_on<Mistake::bias_left_out>(),
      Contains("breaks law 4: all heads: indices [0, 6) of out_proj.bias [6] are in no slice"));
  CHECK_THAT(verdict_on<Mistake::slice_twice>(),
             Contains("breaks law 4:") && Contains("leave out or repeat"));
  CHECK_THAT(verdict_on<Mistake::slice_of_nothing>(),
             Contains("breaks law 4: all heads: there is no parameter nothing"));
  CHECK_THAT(verdict_on<Mistake::heads_out_of_order>(),
             Contains("breaks law 4: all heads: output of head 0 is listed after"));
  CHECK_THAT(verdict_on<Mistake::no_slices_without_key>(),
             Contains("breaks law 4: all heads but") && Contains("a head is missing"));
  CHECK_THAT(verdict_on<Mistake::removed_head_listed>(),
             Contains("breaks law 5:") && Contains("two slices"));
  CHECK_THAT(verdict_on<Mistake::key_called_value>(),
             Contains("breaks law 5:") && Contains("two slices"));
  CHECK_THAT(verdict_on<Mistake::output_of_all>(),
             Contains("breaks law 5:") && Contains("its own"));
  CHECK_THAT(
      verdict_on<Mistake::half_a_head>(),
      Contains("breaks law 5: all heads: query of head 0 has 1 indices of axis 0, expected 2"));
  CHECK_THAT(verdict(HiddenPositions::registered()),
             Contains("breaks law 5: the parts are those of FusedHeads"));
  CHECK_THAT(verdict_on<Mistake::queries_exchanged>(),
             Contains("breaks law 6: [2, 4) of axis 0 of in_proj_weight belongs to head 0"));
  CHECK_THAT(verdict_on<Mistake::scaled_by_live>(), Contains("breaks law 6: all heads but"));
  CHECK_THAT(verdict(LostHeads::registered()), Contains("breaks law 6: regrow:"));
  CHECK_THAT(verdict(RenamedHeads::registered()), Contains("breaks law 7:"));
  CHECK_THAT(verdict_on<Mistake::bias_of_live_heads>(), Contains("breaks law 8: all heads but"));
  CHECK_THAT(verdict_on<Mistake::own_random_numbers>(), Contains("breaks law 9:"));
  CHECK_THAT(verdict_on<Mistake::bias_twice_without_heads>(), Contains("breaks law 10:"));
  CHECK_THAT(verdict_on<Mistake::other_layout>(),
             Contains("breaks law 11: layout() returns fused"));
  CHECK_THAT(verdict_on<Mistake::key_cut_off>(),
             Contains("breaks law 13: no gradient reaches the key"));
  CHECK_THAT(verdict_on<Mistake::gradient_doubled>(),
             Contains("breaks law 13: the gradient of the query is"));
}
