// Removing heads: a pruned layer computes the same function as one with gates of 0.
#include "headroom/base/error.hpp"
#include "headroom/ops/ops.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

constexpr Index head_count = 6;

std::unique_ptr<Attention> six_heads(Layout layout, Real dropout = 0) {
  AttentionConfig config;
  config.width = 18;
  config.heads = head_count;
  config.dropout = dropout;
  Rng rng(12);
  auto layer = make_attention(layout, config, rng);
  randomise(*layer, rng);
  return layer;
}

/// Gates that are 0 for the heads of the set.
Tensor gates_without(unsigned set) {
  Array gates({head_count}, Real(1));
  for (const Index head : heads_in(set)) gates[head] = 0;
  return constant(gates);
}

}  // namespace

TEST_CASE("masked equals compact for all 63 sets of removed heads: values and gradients") {
  for (const Layout layout : all_layouts) {
    for (const bool ask_maps : {false, true}) {
      for (unsigned set = 1; set < 64; ++set) {
        INFO(name_of(layout) << ", set " << set << ", maps " << ask_maps);
        const auto masked = six_heads(layout), compact = six_heads(layout);
        const std::vector<Index> gone = heads_in(set);
        compact->prune(gone);
        Rng rng(set);
        const Tensor x = parameter(test::normal({2, 4, 18}, rng));
        const Tensor again = parameter(x.value().clone());
        const Array cotangent = test::normal({2, 4, 18}, rng);
        AttentionAsk ask, closed;
        ask.maps = closed.maps = ask_maps;
        closed.gates = gates_without(set);
        const AttentionOut a = (*masked)(x, x, x, AttentionMask::causal(), closed);
        const AttentionOut b = (*compact)(again, again, again, AttentionMask::causal(), ask);
        CHECK_THAT(b.y.value(), same_numbers(a.y.value(), same_function));
        a.y.backward(cotangent);
        b.y.backward(cotangent);
        if (set != 63) CHECK_THAT(again.grad(), same_numbers(x.grad(), same_function));

        HeadBlocks expected = head_gradients(*masked);
        for (const Index head : gone) {
          for (const HeadRole role :
               {HeadRole::query, HeadRole::key, HeadRole::value, HeadRole::query_bias,
                HeadRole::key_bias, HeadRole::value_bias, HeadRole::output}) {
            const auto block = expected.find({role, head});
            if (block == expected.end()) continue;
            for (const Real g : block->second.span()) CHECK(g == 0);
            expected.erase(block);
          }
        }
        if (set == 63) continue;  // the shared projections of no heads have no gradient
        check_same_blocks(head_gradients(*compact), expected, same_function);
      }
    }
  }
}

TEST_CASE("heads can go one after the other, and their order does not matter") {
  for (const Layout layout : all_layouts) {
    const auto at_once = six_heads(layout), stepwise = six_heads(layout);
    at_once->prune(heads_in(0b010110));
    for (const Index head : {4, 1, 2}) {
      const Index one[] = {head};
      stepwise->prune(one);
    }
    CHECK(std::vector<Index>(stepwise->alive().begin(), stepwise->alive().end()) ==
          std::vector<Index>{0, 3, 5});
    const HeadBlocks a = head_values(*at_once), b = head_values(*stepwise);
    REQUIRE(a.size() == b.size());
    for (const auto& [place, block] : a) CHECK_THAT(b.at(place), SameBits(block));
  }
}

TEST_CASE("the scale stays 1/sqrt(head_dim): the maps of the others do not move") {
  for (const Layout layout : all_layouts) {
    const auto layer = six_heads(layout);
    Rng rng(3);
    const Tensor x = constant(test::normal({2, 5, 18}, rng));
    AttentionAsk ask;
    ask.maps = true;
    const Tensor before = (*layer)(x, x, x, AttentionMask::none(), ask).maps;
    layer->prune(heads_in(0b001101));
    CHECK(layer->head_dim() == 3);
    const Tensor after = (*layer)(x, x, x, AttentionMask::none(), ask).maps;
    const Tensor kept = gather(before, 1, Ids({3}, {1, 4, 5}));
    CHECK_THAT(after.value(), same_numbers(kept.value(), same_function));
  }
}

TEST_CASE("masks by head follow the original numbers after a prune") {
  for (const Layout layout : all_layouts) {
    const auto masked = six_heads(layout), compact = six_heads(layout);
    compact->prune(heads_in(0b000101));
    Rng rng(5);
    const Tensor x = constant(test::normal({2, 4, 18}, rng));
    const auto mask = AttentionMask::allow(random_bytes({2, head_count, 4, 4}, rng, Real(0.6)));
    AttentionAsk ask;
    ask.gates = gates_without(0b000101);
    const Tensor y = (*masked)(x, x, x, mask, ask).y;
    CHECK_THAT((*compact)(x, x, mask).value(), same_numbers(y.value(), same_function));
  }
}

TEST_CASE("a prune keeps the gradients of those that stay") {
  for (const Layout layout : all_layouts) {
    const auto layer = six_heads(layout);
    Rng rng(9);
    const Tensor x = constant(test::normal({2, 4, 18}, rng));
    (*layer)(x, x, AttentionMask::none()).backward(test::normal({2, 4, 18}, rng));
    const HeadBlocks before = head_gradients(*layer);
    layer->prune(heads_in(0b100010));
    const HeadBlocks after = head_gradients(*layer);
    CHECK(after.size() == head_values(*layer).size());
    for (const auto& [place, block] : after) CHECK_THAT(block, SameBits(before.at(place)));
  }
}

TEST_CASE("the edits say exactly what happened to every parameter") {
  for (const Layout layout : all_layouts) {
    const auto before = six_heads(layout), after = six_heads(layout);
    const std::vector<ParameterEdit> edits = after->prune(heads_in(0b010011));
    const auto old_list = parameters(*before), new_list = parameters(*after);
    std::map<std::string, Tensor> now;
    for (const auto& [name, tensor] : new_list) now[name] = tensor;
    for (const auto& [name, tensor] : old_list) {
      Tensor edited = tensor.detach();
      bool gone = false;
      for (const ParameterEdit& edit : edits) {
        if (edit.name != name) continue;
        gone = edit.gone;
        if (gone) continue;
        Ids kept(Shape{Index(edit.from.size())});
        for (Index i = 0; i < kept.size(); ++i) {
          kept[i] = static_cast<std::int32_t>(edit.from[static_cast<std::size_t>(i)]);
        }
        edited = gather(edited, edit.axis, kept);
      }
      INFO(name_of(layout) << " " << name);
      CHECK(gone == !now.contains(name));
      if (!gone) CHECK_THAT(now.at(name).value(), SameBits(edited.value()));
    }
    for (const auto& [name, tensor] : new_list) {  // no new parameters
      CHECK(std::any_of(old_list.begin(), old_list.end(),
                        [&, &wanted = name](const auto& p) { return p.name == wanted; }));
    }
  }
}

TEST_CASE("pruning a model checks everything before it removes anything") {
  Rng rng(2);
  Seq2Seq model(small_config(ModelKind::seq2seq, Layout::fused), rng);
  const std::vector<HeadId> wrong{{AttentionKind::cross, 0, 1}, {AttentionKind::cross, 1, 9}};
  CHECK_THROWS_WITH(prune(model, wrong), Catch::Contains("no live head cross 1.9"));
  CHECK(live_heads(model).size() == 18);
  const std::vector<HeadId> right{{AttentionKind::cross, 0, 1},
                                  {AttentionKind::decoder_self, 1, 0}};
  const auto edits = prune(model, right);
  CHECK(live_heads(model).size() == 16);
  for (const ParameterEdit& edit : edits) CHECK(edit.name.starts_with("decoder.layers."));
}
