// User-defined layouts: registration by name, a score bias, parameters that no other layout has,
// cached decoding and pruning.
#include "support/own_layouts.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/nn/head_share.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/ops/shaping.hpp"
#include "headroom/surgery/check_layout.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"

using namespace headroom;
using namespace headroom::test;
using Catch::Contains;

namespace {

std::unique_ptr<Attention> random_attention(Layout layout, Index heads = 4) {
  Rng rng(3);
  auto attention = make_attention(layout, {.width = 8, .heads = heads}, rng);
  randomise(*attention, rng);
  return attention;
}

}  // namespace

TEST_CASE("an added layout is known by its name everywhere") {
  const Layout layout = slopes_layout();
  CHECK(std::string(name_of(layout)) == "slopes");
  CHECK(layout_from("slopes") == layout);
  CHECK_THAT(layout_names(), Catch::StartsWith("separate, fused, shared") && Contains("slopes"));
  CHECK(layout_list()[static_cast<std::size_t>(layout)].summary == "a slope for each head");
  CHECK_THROWS_WITH(layout_from("slope"),
                    Contains("\"slope\"") && Contains("did you mean slopes?"));
  CHECK_THAT(random_attention(layout)->title(), Contains("Attention(slopes, 4 of 4 heads"));

  ModelConfig config = small_config(ModelKind::language_model, layout);
  const ModelConfig read = ModelConfig::from_record(config.to_record());
  CHECK(read.block.layout == layout);
  Rng rng(1);
  const auto model = make_model(read, rng);
  for (const NamedAttention& found : attentions(*model)) {
    CHECK(dynamic_cast<SlopeHeads*>(found.attention) != nullptr);
  }
}

TEST_CASE("own layouts keep the laws") {
  for (const Layout layout : own_layouts()) CHECK_NOTHROW(check_layout(*random_attention(layout)));
}

TEST_CASE("a layout's name is taken once, and it needs a factory") {
  slopes_layout();
  CHECK_THROWS_WITH(add_layout("slopes", "", factory<SlopeHeads>()),
                    Contains("slopes exists already"));
  CHECK_THROWS_WITH(add_layout("fused", "", factory<SlopeHeads>()),
                    Contains("fused exists already"));
  CHECK_THROWS_WITH(add_layout("", "", factory<SlopeHeads>()), Contains("needs a name"));
  CHECK_THROWS_WITH(add_layout("none", "", {}), Contains("no function"));
  Rng rng(1);
  CHECK_THROWS_WITH(make_attention(static_cast<Layout>(77), {.width = 8}, rng),
                    Contains("no layout number 77"));
}

TEST_CASE("an own layout is the same function fused, composed and decoded from a cache") {
  for (const Layout layout : own_layouts()) {
    for (const bool pruned : {false, true}) {
      INFO(name_of(layout) << (pruned ? " pruned" : ""));
      const auto attention = random_attention(layout);
      if (pruned) attention->prune(std::vector<Index>{0, 2});
      Rng rng(5);
      const Tensor x(normal({2, 7, 8}, rng)), memory(normal({2, 5, 8}, rng));
      const AttentionMask mask = AttentionMask::causal();
      const Array whole = (*attention)(x, x, mask).value();
      AttentionAsk ask;
      ask.maps = true;
      CHECK_THAT((*attention)(x, x, x, mask, ask).y.value(), same_numbers(whole, same_function));

      const NoGrad quiet;
      KeyValueCache own, fixed;
      own.capacity = 9;
      fixed.fixed = true;
      const Array crossed = (*attention)(x, memory, AttentionMask::none()).value();
      for (Index t = 0; t < 7; t += t == 0 ? 3 : 1) {  // three positions, then one by one
        const Tensor now = slice(x, 1, t, t == 0 ? 3 : t + 1);
        const Index end = t + now.dim(1);
        const Tensor y = (*attention)(now, now, now, AttentionMask::causal(t), {}, &own).y;
        CHECK_THAT(y.value(), same_numbers(slice(Tensor(whole), 1, t, end).value(), same_function));
        const Tensor z = (*attention)(now, memory, memory, AttentionMask::none(), {}, &fixed).y;
        CHECK_THAT(z.value(),
                   same_numbers(slice(Tensor(crossed), 1, t, end).value(), same_function));
      }
    }
  }
}

TEST_CASE("removing heads removes their slopes, and leaves what gates of 0 leave") {
  for (const Layout layout : {slopes_layout(), table_layout()}) {
    INFO(name_of(layout));
    const auto attention = random_attention(layout);
    Rng rng(6);
    const Tensor x(normal({2, 5, 8}, rng));
    AttentionAsk ask;
    ask.gates = constant(Array({4}, {0, 1, 0, 1}));
    const Array gated = (*attention)(x, x, x, AttentionMask::none(), ask).y.value();
    const char* const name = layout == slopes_layout() ? "slopes" : "table";
    const auto find = [&] {
      for (const auto& p : parameters(*attention)) {
        if (p.name == name) return p.tensor;
      }
      return Tensor();
    };
    const Array before = find().value();
    const auto edits = attention->prune(std::vector<Index>{0, 2});
    CHECK_THAT((*attention)(x, x, AttentionMask::none()).value(),
               same_numbers(gated, same_function));
    CHECK_THAT(find().value(), SameBits(gather(Tensor(before), 0, Ids({2}, {1, 3})).value()));
    CHECK(std::count_if(edits.begin(), edits.end(), [&](const ParameterEdit& edit) {
            return edit.name == name && edit.from == std::vector<Index>{1, 3};
          }) == 1);
  }
}

TEST_CASE("a key that heads share is removed with the last of them") {
  Rng rng(3);
  const auto attention = make_attention(grouped_layout(), {.width = 10, .heads = 5}, rng);
  const auto rows = [&](const char* name) {
    for (const auto& p : parameters(*attention)) {
      if (p.name == name) return p.tensor.value();
    }
    return Array();
  };
  const Index d = attention->head_dim();
  const Array keys = rows("key.weight");
  REQUIRE(keys.dim(0) == 3 * d);
  attention->prune(std::vector<Index>{0, 4});
  CHECK_THAT(rows("key.weight"), SameBits(slice(keys, {0, 0, 2 * d})));
  const HeadShare of_one = share_of({"", attention.get()}, 1);
  attention->prune(std::vector<Index>{1});
  CHECK_THAT(rows("key.weight"), SameBits(slice(keys, {0, d, 2 * d})));
  CHECK(rows("query.weight").dim(0) == 2 * d);
  // It comes back with the first of them, and stays as it is when the others do.
  HeadShare of_zero = of_one;
  of_zero.head.head = 0;
  Array& other_key = of_zero.value.at(HeadRole::key);
  other_key = other_key.clone();
  for (Real& x : other_key.span()) x += 1;
  attention->regrow({&of_one, 1});
  CHECK_THAT(rows("key.weight"), SameBits(slice(keys, {0, 0, 2 * d})));
  attention->regrow({&of_zero, 1});
  CHECK_THAT(rows("key.weight"), SameBits(slice(keys, {0, 0, 2 * d})));
  CHECK(rows("query.weight").dim(0) == 4 * d);
  // If several bring one, that of the first head counts, in any order.
  attention->prune(std::vector<Index>{0, 1});
  attention->regrow(std::vector<HeadShare>{of_one, of_zero});
  CHECK_THAT(slice(rows("key.weight"), {0, 0, d}), SameBits(of_zero.value.at(HeadRole::key)));
}

TEST_CASE("a head of grouped queries is a head of another layout with the same parts") {
  const auto grouped = random_attention(grouped_layout()), fused = random_attention(Layout::fused);
  std::vector<HeadShare> shares;
  for (const Index head : grouped->alive()) shares.push_back(share_of({"", grouped.get()}, head));
  fused->prune(std::vector<Index>{0, 1, 2, 3});
  fused->regrow(shares);
  for (auto& [name, tensor] : parameters(*fused)) {
    if (name != "out_proj.bias") continue;
    for (const auto& [other, source] : parameters(*grouped)) {
      if (other == "out.bias") tensor.set_value(source.value().clone());
    }
  }
  Rng rng(6);
  const Tensor x(normal({2, 5, 8}, rng));
  const AttentionMask mask = AttentionMask::causal();
  CHECK_THAT((*fused)(x, x, mask).value(),
             same_numbers((*grouped)(x, x, mask).value(), same_function));
}

TEST_CASE("gates and heads of an attention that the model does not have are refused by kind") {
  Rng rng(1);
  LanguageModel model(small_config(ModelKind::language_model, Layout::fused), rng);
  const Ids ids(Shape{1, 3}, 1);
  HeadProbe probe;
  probe.gates[{AttentionKind::decoder_self, 1}] = constant(zeros({3}));
  CHECK_NOTHROW(model(ids, &probe));
  probe.gates[{AttentionKind::encoder_self, 0}] = constant(zeros({3}));
  CHECK_THROWS_WITH(model(ids, &probe),
                    "gates: the model has no attention encoder 0; it has decoder 0-1");
  CHECK_THROWS_WITH(prune(model, std::vector<HeadId>{{AttentionKind::encoder_self, 0, 1}}),
                    "prune encoder 0.1: the model has no attention encoder 0; it has decoder 0-1");
  CHECK_THROWS_WITH(prune(model, std::vector<HeadId>{{AttentionKind::decoder_self, 1, 7}}),
                    "prune: the model has no live head decoder 1.7; alive there are 0, 1, 2");
  CHECK(live_heads(model).size() == 6);

  Seq2Seq both(small_config(ModelKind::seq2seq, Layout::fused), rng);
  HeadProbe wrong;
  wrong.gates[{AttentionKind::cross, 2}] = constant(zeros({3}));
  const std::string text =
      "gates: the model has no attention cross 2; it has encoder 0-1, decoder 0-1, cross 0-1";
  const Ids lengths(Shape{1}, 3);
  CHECK_THROWS_WITH(both(ids, lengths, ids, &wrong), text);
  const Tensor memory = both.encode(both.embed_source(ids), lengths);
  CHECK_THROWS_WITH(both.decode(both.embed_target(ids), memory, lengths, &wrong), text);
  Classifier classifier(small_config(ModelKind::classifier, Layout::fused), rng);
  CHECK_THROWS_WITH(classifier(ids, lengths, &wrong), Contains("it has encoder 0-1"));
}

TEST_CASE("slices of what does not exist are an error before anything is removed") {
  class Wrong : public SlopeHeads {
   public:
    using SlopeHeads::SlopeHeads;
    std::vector<HeadSlice> head_slices() const override {
      auto slices = SlopeHeads::head_slices();
      slices.back().name = "slope";
      return slices;
    }
  };
  Rng rng(1);
  Wrong attention({.width = 8, .heads = 4}, rng);
  CHECK_THROWS_WITH(attention.prune(std::vector<Index>{0}),
                    Contains("[3, 4) is outside axis 0 of slope"));
  CHECK(attention.alive().size() == 4);
  CHECK(attention.in_proj_bias.dim(0) == 24);
}
