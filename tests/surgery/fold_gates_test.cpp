// Gates folded into the output projections: the same function, in every layout.
#include "headroom/surgery/fold_gates.hpp"

#include <limits>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"

using namespace headroom;
using namespace headroom::test;
using Catch::Matchers::Contains;

namespace {

Array logits(Module& model, const TinyBatch& batch, HeadProbe* probe = nullptr) {
  if (auto* seq2seq = dynamic_cast<Seq2Seq*>(&model)) {
    return (*seq2seq)(batch.source, batch.lengths, batch.target, probe).value();
  }
  if (auto* language = dynamic_cast<LanguageModel*>(&model)) {
    return (*language)(batch.target, probe).value();
  }
  if (auto* classifier = dynamic_cast<Classifier*>(&model)) {
    return (*classifier)(batch.source, batch.lengths, probe).value();
  }
  return dynamic_cast<TextEncoder&>(model)(batch.source, batch.lengths, probe).value();
}

}  // namespace

TEST_CASE("a model with folded gates is the model with gates, and so is the cut one") {
  for (const Layout layout : all_layouts) {
    for (const ModelKind kind : all_of<ModelKind>()) {
      INFO(name_of(layout) << ", " << name_of(kind));
      Rng rng(21);
      const ModelConfig config = small_config(kind, layout);
      const auto model = make_model(config, rng);
      randomise(*model, rng);
      const TinyBatch batch = tiny_batch(config, rng);

      HeadProbe probe;
      std::map<HeadId, double> kept;
      std::vector<HeadId> removed;
      for (const NamedAttention& found : attentions(*model)) {
        Array gates = normal({found.attention->config().heads}, rng);
        gates[1] = 0;
        removed.push_back(found.id(1));
        for (const Index head : found.attention->alive()) {
          if (head != 1) kept[found.id(head)] = double(gates[head]);
        }
        probe.gates[found.location()] = constant(gates);
      }
      const Array gated = logits(*model, batch, &probe);
      CHECK_THAT(logits(*model, batch), !same_numbers(gated, Real(1e-3)));

      std::map<HeadId, double> all = kept;
      for (const HeadId& head : removed) all[head] = 0;
      Rng again(21);
      const auto twin = make_model(config, again);
      copy_parameters(*model, *twin);
      fold_gates(*twin, all);
      CHECK_THAT(logits(*twin, batch), same_numbers(gated, same_function));

      fold_gates(*model, kept);
      prune(*model, removed);
      CHECK_THAT(logits(*model, batch), same_numbers(gated, same_function));
    }
  }
}

TEST_CASE("heads that are not alive and gates that are not finite are refused before a change") {
  Rng rng(22);
  const auto attention = make_attention(Layout::fused, {.width = 12, .heads = 3}, rng);
  const HeadId first{AttentionKind::encoder_self, 0, 0}, gone{AttentionKind::encoder_self, 0, 2};
  const std::vector<HeadId> cut = {gone};
  prune(*attention, cut);
  const HeadBlocks before = head_values(*attention);
  CHECK_THROWS_AS(fold_gates(*attention, {{first, 0.5}, {gone, 0.5}}), UsageError);
  CHECK_THROWS_WITH(fold_gates(*attention, {{first, 0.5}, {gone, 0.5}}),
                    Contains("encoder 0.2 is not alive"));
  CHECK_THROWS_WITH(fold_gates(*attention, {{first, std::numeric_limits<double>::quiet_NaN()}}),
                    Contains("the gate of encoder 0.0 is nan"));
  for (const auto& [place, block] : head_values(*attention)) {
    CHECK_THAT(block, SameBits(before.at(place)));
  }
  // Only the output projection of the listed head changes.
  fold_gates(*attention, {{first, 2}});
  for (auto [place, block] : head_values(*attention)) {
    const bool changes = place == std::pair(HeadRole::output, Index{0});
    if (changes) {
      for (Real& x : block.span()) x /= 2;
    }
    CHECK_THAT(block, SameBits(before.at(place)));
  }
}
