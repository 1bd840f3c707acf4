// Heads that come back: regrow() is the inverse of prune(), to the bit, in every layout.
#include <algorithm>

#include "headroom/algebra/algebra.hpp"
#include "headroom/base/error.hpp"
#include "headroom/nn/head_share.hpp"
#include "headroom/nn/separate_heads.hpp"
#include "headroom/ops/activations.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/dropout.hpp"
#include "headroom/ops/matmul.hpp"
#include "headroom/ops/shaping.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"
#include "support/own_layouts.hpp"

using namespace headroom;
using namespace headroom::test;
using Catch::Matchers::Contains;

namespace {

/// Fused heads with a gate each, sigmoid(w_h x + b_h): two extra parts of a head.
class GatedHeads : public FusedHeads {
 public:
  GatedHeads(const AttentionConfig& config, Rng& rng)
      : FusedHeads(config, rng),
        gate_weight(parameter(test::normal({config.heads, config.width}, rng))),
        gate_bias(parameter(test::normal({config.heads}, rng))) {}
  std::vector<HeadSlice> head_slices() const override {
    auto slices = FusedHeads::head_slices();
    for (Index i = 0; i < live(); ++i) {
      const Index head = alive()[static_cast<std::size_t>(i)];
      slices.push_back({HeadRole::extra, head, "gate_weight", 0, i, i + 1});
      slices.push_back({HeadRole::extra, head, "gate_bias", 0, i, i + 1});
    }
    return slices;
  }
  void members(Members& visit) override {
    FusedHeads::members(visit);
    visit("gate_weight", gate_weight);
    visit("gate_bias", gate_bias);
  }

 protected:
  Tensor combine(const Tensor& heads, const Tensor& query) const override {
    if (live() == 0) return FusedHeads::combine(heads, query);
    const Tensor gates = sigmoid(linear(query, gate_weight, gate_bias));
    const Shape apart{heads.dim(0), heads.dim(1), live(), head_dim()};
    return FusedHeads::combine(
        reshape(reshape(heads, apart) * reshape(gates, apart.with(3, 1)), heads.shape()), query);
  }

 private:
  Tensor gate_weight, gate_bias;  // [live, C], [live]
};

/// Separate heads whose modules can be dropped, but not added.
class OneWayHeads : public SeparateHeads {
 public:
  using SeparateHeads::SeparateHeads;

 private:
  void add_modules(std::span<const Index>) override {}
};

template <class Heads>
Layout layout_of(const char* name) {
  static const Layout layout = add_layout(name, "of this test", factory<Heads>());
  return layout;
}

std::vector<Layout> tried_layouts() {
  return {Layout::separate, Layout::fused,
          Layout::shared,   slopes_layout(),
          table_layout(),   grouped_layout(),
          one_key_layout(), layout_of<GatedHeads>("gates of regrow_test")};
}

std::unique_ptr<Attention> layer_of(Layout layout, Real dropout = 0, Index key_width = 0) {
  Rng rng(12);
  auto layer = make_attention(
      layout, {.width = 18, .heads = 6, .key_width = key_width, .dropout = dropout}, rng);
  randomise(*layer, rng);
  return layer;
}

/// Shares of heads, in an order that depends on the seed.
std::vector<HeadShare> shares_of(Attention& layer, std::vector<Index> heads, std::uint64_t seed) {
  Rng rng(seed);
  for (Index i = std::ssize(heads) - 1; i > 0; --i) {
    std::swap(heads[std::size_t(i)], heads[std::size_t(rng.below(i + 1))]);
  }
  std::vector<HeadShare> shares;
  for (const Index head : heads) shares.push_back(share_of({"", &layer}, head));
  return shares;
}

void give_gradients(Attention& layer, std::uint64_t seed) {
  Rng rng(seed);
  const Tensor x = constant(test::normal({2, 4, 18}, rng));
  layer(x, x, AttentionMask::causal()).backward(test::normal({2, 4, 18}, rng));
}

/// Copies of all parameters, and of their gradients.
struct Contents {
  explicit Contents(Module& module) {
    for (const auto& [name, tensor] : parameters(module)) {
      names.push_back(name);
      values.push_back(tensor.value().clone());
      gradients.push_back(tensor.grad().clone());
    }
  }
  void check_same(const Contents& other) const {
    REQUIRE(names == other.names);
    for (std::size_t i = 0; i < names.size(); ++i) {
      INFO(names[i]);
      CHECK_THAT(values[i], SameBits(other.values[i]));
      REQUIRE(gradients[i].defined() == other.gradients[i].defined());
      if (gradients[i].defined()) CHECK_THAT(gradients[i], SameBits(other.gradients[i]));
    }
  }
  std::vector<std::string> names;
  std::vector<Array> values, gradients;
};

}  // namespace

TEST_CASE("regrow undoes a prune, values and gradients to the bit, for all 63 sets of heads") {
  for (const Layout layout : tried_layouts()) {
    for (unsigned set = 1; set < 64; ++set) {
      INFO(name_of(layout) << ", set " << set);
      const auto layer = layer_of(layout);
      give_gradients(*layer, set);
      const Contents before(*layer);
      const std::vector<HeadShare> shares = shares_of(*layer, heads_in(set), set);
      layer->prune(heads_in(set));
      layer->regrow(shares);
      CHECK(std::ranges::equal(layer->alive(), heads_in(63)));
      Contents(*layer).check_same(before);
    }
  }
}

TEST_CASE("heads come back one by one, in any order, and to a layer without heads") {
  for (const Layout layout : tried_layouts()) {
    INFO(name_of(layout));
    const auto layer = layer_of(layout), once_pruned = layer_of(layout);
    const Contents before(*layer);
    const std::vector<HeadShare> shares = shares_of(*layer, heads_in(63), 7);
    layer->prune(heads_in(0b010110));
    layer->prune(heads_in(0b101001));
    REQUIRE(layer->alive().empty());
    unsigned there = 0;
    for (const HeadShare& share : shares) {
      layer->regrow({&share, 1});
      there |= 1U << share.head.head;
      const auto pruned = layer_of(layout);
      pruned->prune(heads_in(63 & ~there));
      Contents(*layer).check_same(Contents(*pruned));
    }
    Contents(*layer).check_same(before);
  }
}

TEST_CASE("the edits of a regrowth say what happened to every parameter") {
  for (const Layout layout : tried_layouts()) {
    for (const unsigned gone : {0b010011U, 0b111111U}) {
      INFO(name_of(layout) << ", set " << gone);
      const auto layer = layer_of(layout);
      const std::vector<HeadShare> shares = shares_of(*layer, heads_in(gone & 0b110110), 1);
      layer->prune(heads_in(gone));
      std::map<std::string, Array> expected;
      for (const auto& [name, tensor] : parameters(*layer)) expected[name] = tensor.value();
      const std::vector<ParameterEdit> edits = layer->regrow(shares);
      for (const ParameterEdit& edit : edits) {
        INFO(edit.name);
        CHECK_FALSE(edit.gone);
        CHECK(edit.born == !expected.contains(edit.name));
        if (edit.born) {
          CHECK(std::ranges::all_of(edit.from, [](Index i) { return i == ParameterEdit::fresh; }));
          expected[edit.name] = edit.fresh_values;
        } else {
          expected[edit.name] = edit.applied_to(expected[edit.name], edit.fresh_values);
        }
      }
      for (const auto& [name, tensor] : parameters(*layer)) {
        INFO(name);
        REQUIRE(expected.contains(name));
        CHECK_THAT(tensor.value(), SameBits(expected[name]));
      }
      CHECK(expected.size() == parameters(*layer).size());
    }
  }
}

TEST_CASE("a head of one layout comes back in another one with the same roles") {
  for (const Index key_width : {18, 7}) {
    const auto separate = layer_of(Layout::separate, 0, key_width),
               fused = layer_of(Layout::fused, 0, key_width);
    set_head_values(*fused, head_values(*separate));
    const std::vector<Index> heads = heads_in(0b100101);
    const std::vector<HeadShare> from_separate = shares_of(*separate, heads, 2);
    fused->prune(heads);
    fused->regrow(from_separate);
    const HeadBlocks expected = head_values(*separate);
    for (const auto& [place, block] : head_values(*fused)) {
      CHECK_THAT(block, SameBits(expected.at(place)));
    }
  }
}

TEST_CASE("gradients of heads without any are 0, also where a parameter is new") {
  for (const Layout layout : {Layout::separate, Layout::fused}) {
    INFO(name_of(layout));
    const auto layer = layer_of(layout);
    std::vector<HeadShare> shares = shares_of(*layer, {1, 4}, 3);  // no gradients yet
    give_gradients(*layer, 3);
    const HeadBlocks before = head_gradients(*layer);
    layer->prune(heads_in(0b010010));
    layer->regrow(shares);
    const HeadBlocks after = head_gradients(*layer);
    REQUIRE(after.size() == before.size());
    for (const auto& [place, block] : after) {
      const bool came_back = place.second == 1 || place.second == 4;
      CHECK_THAT(block, SameBits(came_back ? zeros(block.shape()) : before.at(place)));
    }
    zero_grad(*layer);
    layer->prune(heads_in(0b010010));
    for (HeadShare& share : shares) share.gradient = share.value;
    layer->regrow(shares);
    CHECK(head_gradients(*layer).empty());  // a layer without gradients stays so
  }
}

TEST_CASE("a regrowth that is refused changes nothing and says why") {
  for (const Layout layout : tried_layouts()) {
    INFO(name_of(layout));
    const auto layer = layer_of(layout);
    const std::vector<HeadShare> shares = shares_of(*layer, {2, 5}, 4);
    layer->prune(heads_in(0b100100));
    give_gradients(*layer, 4);
    const Contents before(*layer);
    const auto refuses = [&](const std::string& why, const auto& spoil) {
      std::vector<HeadShare> wrong = shares;
      spoil(wrong);
      CHECK_THROWS_WITH(layer->regrow(wrong), Contains(why));
      CHECK(std::ranges::equal(layer->alive(), std::vector<Index>{0, 1, 3, 4}));
      Contents(*layer).check_same(before);
    };
    refuses("head 3 is alive; alive are 0, 1, 3, 4", [](auto& wrong) { wrong[1].head.head = 3; });
    refuses("there is no head 6 among 6", [](auto& wrong) { wrong[1].head.head = 6; });
    refuses("there is no head -1", [](auto& wrong) { wrong[0].head.head = -1; });
    refuses("is given twice", [](auto& wrong) { wrong[1] = wrong[0]; });
    refuses("has no output", [](auto& wrong) { wrong[1].value.erase(HeadRole::output); });
    refuses("parts, but a head of", [](auto& wrong) {
      wrong[0].value[{HeadRole::extra, "surplus"}] = zeros({3});
    });
    refuses("output of head", [](auto& wrong) {
      wrong[1].value.at(HeadRole::output) = zeros({18, 4});
    });
    if (layout == Layout::separate) {  // a new parameter, too, must have the layer's shape
      refuses("key of head", [](auto& wrong) {
        wrong[1].value.at(HeadRole::key) = zeros({3, 17});
      });
    }
    layer->regrow(shares);
    CHECK(layer->alive().size() == 6);
  }
}

TEST_CASE("the gradient of a head's scale is that of its part, and 0 without a gradient") {
  Rng rng(4);
  const auto layer = make_attention(Layout::fused, {.width = 8, .heads = 4}, rng);
  CHECK(scaling_gradient(share_of({"", layer.get()}, 1), HeadRole::output) == 0);
  const Tensor x = constant(test::normal({1, 3, 8}, rng));
  const Tensor y = (*layer)(x, x, AttentionMask::none());
  y.backward(test::normal(y.shape(), rng));
  const HeadShare share = share_of({"", layer.get()}, 1);
  const Array &value = share.value.at(HeadRole::output),
              &slope = share.gradient.at(HeadRole::output);
  double sum = 0;
  for (Index i = 0; i < value.size(); ++i) sum += double(value[i]) * double(slope[i]);
  CHECK(sum != 0);
  CHECK(scaling_gradient(share, HeadRole::output) == sum);
}

TEST_CASE("a layout that drops modules but cannot add any says so") {
  Rng rng(1);
  OneWayHeads layer({.width = 8, .heads = 4}, rng);
  const HeadShare share = share_of({"", &layer}, 3);
  layer.prune(std::vector<Index>{3});
  CHECK_THROWS_WITH(layer.regrow({&share, 1}),
                    Contains("no parameter query.3.weight") && Contains("add_modules()"));
  CHECK(layer.alive().size() == 3);
  const Tensor x = constant(test::normal({1, 3, 8}, rng));
  layer(x, x, AttentionMask::none());
}

TEST_CASE("the dropout masks of the other heads stay the same when heads go and come back") {
  for (const Layout layout : all_layouts) {
    INFO(name_of(layout));
    const auto layer = layer_of(layout, Real(0.4));
    layer->name_streams("encoder.layers.0.self_attn");
    Rng rng(8);
    const Tensor x = constant(test::normal({2, 5, 18}, rng));
    const auto maps = [&] {  // after dropout
      const RandomStep random(3, 11);
      AttentionAsk ask;
      ask.maps = true;
      return (*layer)(x, x, x, AttentionMask::none(), ask).maps.value();
    };
    const Array all = maps();
    const std::vector<HeadShare> shares = shares_of(*layer, {0, 2, 3}, 5);
    layer->prune(heads_in(0b001101));
    const Index others[] = {1, 4, 5}, most[] = {0, 1, 3, 4, 5};
    CHECK_THAT(maps(), same_numbers(gather(all, 1, others), same_function));
    for (const HeadShare& share : shares) {
      if (share.head.head != 2) layer->regrow({&share, 1});
    }
    CHECK_THAT(maps(), same_numbers(gather(all, 1, most), same_function));
    for (const NamedModule& found : modules(*layer)) {
      INFO(found.name);
      CHECK(found.module->path().starts_with("encoder.layers.0.self_attn"));
    }
    layer->eval();
    for (const HeadShare& share : shares) {
      if (share.head.head == 2) layer->regrow({&share, 1});
    }
    for (const NamedModule& found : modules(*layer)) CHECK_FALSE(found.module->training());
  }
}

TEST_CASE("a model that is regrown is the model that was pruned; a refusal leaves it as it was") {
  for (const Layout layout : all_layouts) {
    Rng rng(2);
    Seq2Seq model(small_config(ModelKind::seq2seq, layout), rng);
    const Contents before(model);
    const std::vector<HeadId> heads{{AttentionKind::cross, 0, 1},
                                    {AttentionKind::decoder_self, 1, 0},
                                    {AttentionKind::cross, 0, 0},
                                    {AttentionKind::encoder_self, 0, 2}};
    std::vector<HeadShare> shares;
    for (const HeadId& head : heads) {
      for (const NamedAttention& found : attentions(model)) {
        if (found.id(head.head) == head) shares.push_back(share_of(found, head.head));
      }
    }
    REQUIRE(shares.size() == heads.size());
    prune(model, heads);
    const Contents pruned(model);
    std::vector<HeadShare> wrong = shares;
    wrong[1].head.head = 1;  // alive; the encoder's and the cross-attention's heads could come back
    CHECK_THROWS_WITH(regrow(model, wrong), Contains("head 1 is alive"));
    wrong[1].head = {AttentionKind::cross, 7, 1};
    CHECK_THROWS_WITH(regrow(model, wrong), Contains("no attention cross 7"));
    Contents(model).check_same(pruned);
    const std::vector<ParameterEdit> edits = regrow(model, shares);
    Contents(model).check_same(before);
    for (const ParameterEdit& edit : edits) {
      CHECK((edit.name.starts_with("decoder.layers.") || edit.name.starts_with("encoder.layers.")));
    }
  }
}
