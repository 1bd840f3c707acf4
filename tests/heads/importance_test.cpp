// Sensitivity: against gate gradients taken one example at a time, and by finite differences.
#include "headroom/heads/importance.hpp"

#include <cmath>
#include <memory>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/ops/losses.hpp"
#include "support/catch.hpp"
#include "support/close.hpp"
#include "support/nn_support.hpp"

using namespace headroom;

namespace {

ModelConfig small_model() {
  ModelConfig config;
  config.kind = ModelKind::language_model;
  config.block.width = 8;
  config.block.heads = 4;
  config.block.hidden = 12;
  config.block.activation = Activation::gelu;  // smooth, for finite differences
  config.layers = 2;
  config.source_vocabulary = 9;
  config.longest = 8;
  return config;
}

Tensor loss_of(const LanguageModel& model, const Ids& ids, const Ids& labels, HeadProbe& probe) {
  return cross_entropy(model(ids, &probe), labels, {.reduction = Reduction::sum});
}

ProbedBatch batch_of(const LanguageModel& model, const Ids& ids, const Ids& labels) {
  return probed(labels, [&](HeadProbe& probe) { return model(ids, &probe); });
}

}  // namespace

TEST_CASE("sensitivity is the mean over examples of |dL/dgate|, also after a prune") {
  Rng rng(2);
  LanguageModel model(small_model(), rng);
  const std::vector<HeadId> gone{{AttentionKind::decoder_self, 0, 1}};
  prune(model, gone);
  const Ids ids({3, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 5, 7, 1, 3});
  const Ids labels({3, 5}, {2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 5, 7, 1, 3, 5});
  Sensitivity sensitivity(model);
  CHECK_THROWS_AS(sensitivity.scores(), UsageError);
  sensitivity.add(batch_of(model, ids, labels));
  const std::vector<HeadScore> scores = sensitivity.scores();
  REQUIRE(scores.size() == 7);

  // By central differences: one example, one gate at a time.
  const double h = is_double ? 1e-4 : 1e-2;
  for (const HeadScore& score : scores) {
    double sum = 0;
    for (Index b = 0; b < 3; ++b) {
      const Ids one({1, 5}, std::span(ids.data() + b * 5, 5)),
          next({1, 5}, std::span(labels.data() + b * 5, 5));
      double loss[2];
      for (int side = 0; side < 2; ++side) {
        const NoGrad quiet;
        HeadProbe probe;
        Array gates = ones({4});
        gates[score.head.head] += Real(side == 0 ? -h : h);
        probe.gates[{score.head.kind, score.head.layer}] = constant(gates);
        loss[side] = double(loss_of(model, one, next, probe).item());
      }
      sum += std::abs(loss[1] - loss[0]) / (2 * h);
    }
    CHECK(std::abs(score.score - sum / 3) <= (is_double ? 1e-7 : 2e-3));
    CHECK(score.score > 0);
  }
}

TEST_CASE("what removing a head costs is the rise of the loss of a model without it") {
  const Ids ids({3, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 5, 7, 1, 3});
  const Ids labels({3, 5}, {2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 5, 7, 1, 3, 5});
  const auto model_without = [](const std::vector<HeadId>& gone) {
    Rng rng(2);
    auto model = std::make_unique<LanguageModel>(small_model(), rng);
    prune(*model, gone);
    return model;
  };
  const auto loss_without = [&](const std::vector<HeadId>& gone) {
    HeadProbe probe;
    return double(loss_of(*model_without(gone), ids, labels, probe).item());
  };
  const HeadId first{AttentionKind::decoder_self, 0, 1};
  const auto model = model_without({first});
  RemovalCost cost(*model);
  CHECK_THROWS_AS(cost.scores(), UsageError);
  for (int times = 0; times < 2; ++times) {  // a mean does not depend on the number of batches
    cost.add(batch_of(*model, ids, labels));
  }
  const std::vector<HeadScore> scores = cost.scores();
  REQUIRE(scores.size() == 7);
  const double before = loss_without({first});
  for (const HeadScore& score : scores) {
    INFO(score.head.text());
    const double rise = (loss_without({first, score.head}) - before) / 3;
    CHECK(std::abs(score.score - rise) <= (is_double ? 1e-12 : 1e-5));
    CHECK(std::abs(rise) > 1e-4);
  }
}

TEST_CASE("heads that no path leads from cost nothing, and a loss without gates is refused") {
  Rng rng(2);
  const ModelConfig config = test::small_config(ModelKind::seq2seq, Layout::fused);
  Seq2Seq model(config, rng);
  const test::TinyBatch batch = test::tiny_batch(config, rng);
  std::vector<HeadId> cross = live_heads(model);
  std::erase_if(cross, [](const HeadId& head) { return head.kind != AttentionKind::cross; });
  prune(model, cross);
  Sensitivity sensitivity(model);
  const auto with = [&](bool gates) {
    return probed(batch.labels, [&, gates](HeadProbe& probe) {
      return model(batch.source, batch.lengths, batch.target, gates ? &probe : nullptr);
    });
  };
  sensitivity.add(with(true));
  for (const HeadScore& score : sensitivity.scores()) {
    INFO(score.head.text());
    CHECK((score.score == 0) == (score.head.kind == AttentionKind::encoder_self));
  }
  CHECK_THROWS_WITH(sensitivity.add(with(false)), Catch::Contains("give the probe"));
}

TEST_CASE("measuring importance leaves no gradient in the model, and changes no parameter") {
  Rng rng(2);
  LanguageModel model(small_model(), rng);
  std::vector<Array> before;
  for (const NamedParameter& parameter : parameters(model)) {
    before.push_back(parameter.tensor.value().clone());
  }
  const Ids ids({1, 5}, {1, 2, 3, 4, 5}), labels({1, 5}, {2, 3, 4, 5, 6});
  const ProbedBatch batch = batch_of(model, ids, labels);
  const auto check_untouched = [&] {
    std::size_t next = 0;
    for (const NamedParameter& parameter : parameters(model)) {
      INFO(parameter.name);
      CHECK_FALSE(parameter.tensor.grad().defined());
      CHECK_THAT(parameter.tensor.value(), test::SameBits(before.at(next++)));
    }
  };
  Sensitivity sensitivity(model);
  sensitivity.add(batch);
  check_untouched();
  RemovalCost cost(model);
  cost.add(batch);
  check_untouched();
  CHECK(grad_enabled());  // gradients are enabled again afterwards

  // Existing gradients of another loss have no effect.
  HeadProbe probe;
  loss_of(model, ids, labels, probe).backward();
  Sensitivity again(model);
  again.add(batch);
  const std::vector<HeadScore> first = sensitivity.scores(), second = again.scores();
  REQUIRE(first.size() == second.size());
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(first[i].score == second[i].score);
}

TEST_CASE("scores add up head by head and sort by importance") {
  const HeadId a{AttentionKind::cross, 0, 0}, b{AttentionKind::cross, 0, 1},
      c{AttentionKind::cross, 1, 0};
  const std::vector<HeadScore> sums = added({{a, 1}, {b, 3}, {c, 2}}, {{a, 4}, {b, 0}, {c, 0}});
  CHECK(least_important_first(sums) == std::vector<HeadId>{c, b, a});
  CHECK(least_important_first({{a, 1}, {b, 1}, {c, 0}}) == std::vector<HeadId>{c, a, b});
  CHECK_THROWS_AS(added({{a, 1}}, {{b, 1}}), UsageError);
}
