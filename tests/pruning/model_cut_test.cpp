// Cuts of trained models: what is removed, what it costs, and that a trial leaves nothing behind.
#include "headroom_measure/pruning/model_cut.hpp"

#include <algorithm>
#include <cmath>

#include "headroom/statistics/intervals.hpp"
#include "headroom_measure/importance/choosers.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "support/catch.hpp"
#include "support/fixed_learner.hpp"

using namespace headroom;
using namespace headroom::test;
using Catch::Matchers::Contains;

namespace {

constexpr Index all_examples = 100;

std::vector<HeadScore> scores_of(const std::vector<double>& values) {
  std::vector<HeadScore> scores;
  for (const double value : values) {
    scores.push_back({{AttentionKind::cross, 0, std::ssize(scores)}, value});
  }
  return scores;
}

/// The losses of the same learner, when its heads are really removed.
std::vector<double> losses_without(const std::vector<HeadId>& heads, Compensation compensation) {
  FixedLearner learner;
  compensate(learner, heads, compensation);
  prune(learner.model(), heads);
  return example_losses(learner, ExampleSet::selection, all_examples);
}

}  // namespace

TEST_CASE("the effective number of heads is a participation ratio") {
  CHECK(effective_heads(scores_of({2, 2, 2, 2, 2})) == 5);
  CHECK(effective_heads(scores_of({0, 3, 0})) == 1);
  CHECK(std::abs(effective_heads(scores_of({1, 2, 3})) - 36.0 / 14) < 1e-12);
  CHECK(std::abs(effective_heads(scores_of({1, 2, 3, -7})) - 36.0 / 14) < 1e-12);
  CHECK_THROWS_WITH(effective_heads(scores_of({0, -1})), Contains("no head has a score above 0"));
}

TEST_CASE("the losses of a cut are those of a model that was cut, which the trial is not") {
  const std::vector<HeadId> removed{{AttentionKind::encoder_self, 0, 1},
                                    {AttentionKind::encoder_self, 0, 2},
                                    {AttentionKind::decoder_self, 1, 0},
                                    {AttentionKind::cross, 0, 2}};
  for (const Compensation compensation : all_of<Compensation>()) {
    INFO(name_of(compensation));
    FixedLearner learner;
    ModelCut cut(learner, {.compensation = compensation});
    std::vector<Array> before;
    for (const auto& [name, tensor] : parameters(learner.model())) {
      before.push_back(tensor.value().clone());
    }
    const std::vector<double> whole = cut.losses(ExampleSet::selection, {}),
                              losses = cut.losses(ExampleSet::selection, removed);
    const std::vector<NamedParameter> after = parameters(learner.model());
    REQUIRE(after.size() == before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      CHECK_THAT(after[i].tensor.value(), SameBits(before[i]));
      CHECK_FALSE(after[i].tensor.grad().defined());
    }
    const std::vector<double> expected = losses_without(removed, compensation);
    REQUIRE(losses.size() == expected.size());
    for (std::size_t i = 0; i < losses.size(); ++i) {
      CHECK(std::abs(losses[i] - expected[i]) < 10 * double(same_function));
    }
    CHECK(std::abs(mean_of(losses) - mean_of(whole)) > 1e-3);
    cut.apply(removed);
    CHECK(live_heads(learner.model()).size() == 14);
    CHECK(example_losses(learner, ExampleSet::selection, all_examples) == losses);
  }
  CHECK(std::abs(mean_of(losses_without(removed, Compensation::none)) -
                 mean_of(losses_without(removed, Compensation::mean))) > 1e-4);
}

TEST_CASE("a cut removes the heads that its metric or chooser names, within the budget") {
  for (const char* name : {"sensitivity", "greedy", "pairwise"}) {
    for (const BudgetOver over : {BudgetOver::global, BudgetOver::per_kind}) {
      INFO(name << ", " << name_of(over));
      if (name == std::string("pairwise") && over != BudgetOver::global) continue;  // seconds
      FixedLearner learner;
      const Budget budget{.over = over, .at_least = 1};
      ModelCut cut(learner, {.chooser = name, .budget = budget, .examples = 3, .seed = 4});
      CHECK(cut.most() == 12);
      CHECK(cut.importance().empty() == (name != std::string("sensitivity")));
      for (const Index remove : {1, 6, 12}) {
        HeadGame game(learner, ExampleSet::importance, 3);
        std::vector<HeadId> expected = head_chooser(name).make({.seed = 4})(game, remove, budget);
        expected.resize(std::size_t(remove));
        CHECK(cut.choose(remove) == expected);
      }
      CHECK_THROWS_AS(cut.choose(13), UsageError);
    }
  }
  FixedLearner learner;
  CHECK_THROWS_WITH(ModelCut(learner, {.chooser = "greddy"}), Contains("did you mean greedy?"));
  CHECK_THROWS_WITH(ModelCut(learner, {.chooser = "movement"}), Contains("movement"));
}

TEST_CASE("as many heads go as the selection set allows") {
  FixedLearner learner;
  ModelCut cut(learner, {.chooser = "sensitivity", .budget = {.at_least_of_kind = 0}});
  const double whole = mean_of(cut.losses(ExampleSet::selection, {}));
  std::vector<double> rises;  // by number of heads
  for (Index remove = 1; remove <= cut.most(); ++remove) {
    rises.push_back(mean_of(cut.losses(ExampleSet::selection, cut.choose(remove))) - whole);
  }
  REQUIRE(rises.size() == 18);
  std::vector<double> limits = rises;
  std::sort(limits.begin(), limits.end());
  for (std::size_t i = 0; i + 1 < limits.size(); ++i) {
    const double limit = (limits[i] + limits[i + 1]) / 2;
    std::size_t most = 0;
    for (std::size_t n = 0; n < rises.size(); ++n) {
      if (rises[n] <= limit) most = n + 1;
    }
    INFO(limit);
    CHECK(cut.most_within(limit).size() == most);
    CHECK(cut.most_within(limit) == cut.choose(Index(most)));
  }
  CHECK(cut.most_within(limits[0] - 1e-3).empty());
}
