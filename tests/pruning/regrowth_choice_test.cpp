// Measures of heads that a model does not have: against the same model with them, and against
// central differences.
#include "headroom_measure/pruning/regrowth_choice.hpp"

#include <cmath>
#include <numeric>

#include "headroom/algebra/algebra.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom_measure/pruning/compensation.hpp"
#include "support/catch.hpp"
#include "support/fixed_learner.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

const std::vector<HeadId> some_heads{{AttentionKind::encoder_self, 0, 1},
                                     {AttentionKind::decoder_self, 1, 0},
                                     {AttentionKind::cross, 0, 2},
                                     {AttentionKind::cross, 0, 0}};

HeadShare share_in(Module& model, const HeadId& head) {
  for (const NamedAttention& found : attentions(model)) {
    if (found.id(head.head) == head) return share_of(found, head.head);
  }
  throw UsageError("no such head");
}

double mean_loss_of(FixedLearner& learner) {
  const std::vector<double> losses = example_losses(learner, ExampleSet::importance, 100);
  return std::accumulate(losses.begin(), losses.end(), 0.0) / double(losses.size());
}

/// The mean loss of the same learner when only `cut` of its heads are removed.
double loss_without(const std::vector<HeadId>& cut, const std::map<HeadId, Array>& means) {
  FixedLearner learner;
  std::map<HeadId, Array> own;
  for (const HeadId& head : cut) {
    if (means.contains(head)) own[head] = means.at(head);
  }
  compensate(learner.model(), own);
  prune(learner.model(), cut);
  return mean_loss_of(learner);
}

std::vector<Array> values_of(Module& model) {
  std::vector<Array> values;
  for (const auto& [name, tensor] : parameters(model)) values.push_back(tensor.value().clone());
  return values;
}

void check_same_values(Module& model, const std::vector<Array>& before) {
  const std::vector<NamedParameter> now = parameters(model);
  REQUIRE(now.size() == before.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    INFO(now[i].name);
    CHECK_THAT(now[i].tensor.value(), SameBits(before[i]));
    CHECK_FALSE(now[i].tensor.grad().defined());
  }
}

}  // namespace

TEST_CASE("the gain of a stashed head is the fall of the loss of a model that has kept it") {
  for (const bool compensated : {false, true}) {
    INFO("compensated " << compensated);
    FixedLearner learner;
    const std::map<HeadId, Array> means =
        compensated ? mean_head_outputs(learner, some_heads) : std::map<HeadId, Array>();
    std::vector<RemovedHead> removed;
    for (const HeadId& head : some_heads) {
      removed.push_back({{share_in(learner.model(), head)}});
      if (compensated) removed.back().mean = means.at(head);
    }
    compensate(learner.model(), means);
    prune(learner.model(), some_heads);
    zero_grad(learner.model());
    const std::vector<Array> before = values_of(learner.model());
    const std::vector<HeadScore> gains = gains_of_stashed(learner, removed, 100);
    check_same_values(learner.model(), before);
    REQUIRE(gains.size() == some_heads.size());
    const double now = loss_without(some_heads, means);
    for (std::size_t i = 0; i < some_heads.size(); ++i) {
      INFO(some_heads[i].text());
      CHECK(gains[i].head == some_heads[i]);
      std::vector<HeadId> others = some_heads;
      others.erase(others.begin() + Index(i));
      const double gain = now - loss_without(others, means);
      CHECK(std::abs(gain) > 1e-4);
      CHECK(std::abs(gains[i].score - gain) < 10 * double(same_function));
    }
  }
}

TEST_CASE("the gain of a fresh head is the norm of dL/dW_O, by central differences") {
  if (!is_double) return;  // differences of the loss need double
  FixedLearner learner;
  Module& model = learner.model();
  prune(model, some_heads);
  zero_grad(model);
  std::vector<HeadStash> fresh;
  for (const HeadId& head : some_heads) fresh.push_back(fresh_head(model, head, 5, 7));
  const std::vector<Array> before = values_of(model);
  const std::vector<HeadScore> gains = gains_of_fresh(learner, fresh, 100);
  check_same_values(model, before);
  REQUIRE(gains.size() == fresh.size());
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    INFO(some_heads[i].text());
    const auto loss_with = [&](Index element, double value) {
      HeadShare share = fresh[i].share;
      Array& output = share.value.at(HeadRole::output);
      output = output.clone();
      output[element] = Real(value);
      regrow(model, {&share, 1});
      const double loss = mean_loss_of(learner);
      prune(model, {&share.head, 1});
      return loss;
    };
    constexpr double h = 1e-5;
    double squares = 0;
    for (Index e = 0; e < fresh[i].share.value.at(HeadRole::output).size(); ++e) {
      const double slope = (loss_with(e, h) - loss_with(e, -h)) / (2 * h);
      squares += slope * slope;
    }
    CHECK(gains[i].head == some_heads[i]);
    CHECK(gains[i].score > 1e-3);
    CHECK(std::abs(gains[i].score - std::sqrt(squares)) < 1e-7);
  }
  // The gradient of its gate says nothing: W_O = 0.
  HeadProbe probe;
  regrow(model, {&fresh[0].share, 1});
  const Tensor gates = parameter(ones({3}));
  probe.gates[{some_heads[0].kind, some_heads[0].layer}] = gates;
  learner.visit(ExampleSet::importance, 100, [&](const ProbedBatch& batch) {
    sum(batch.losses(probe)).backward();
    probe = {};
    probe.gates[{some_heads[0].kind, some_heads[0].layer}] = gates;
  });
  CHECK(gates.grad()[some_heads[0].head] == 0);
  CHECK(gates.grad()[0] != 0);
}
