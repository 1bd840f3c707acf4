// Training runs that swap heads: how many, which ones, and what comes back.
#include <algorithm>
#include <map>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/io/json.hpp"
#include "headroom_measure/pruning/regrowth_choice.hpp"
#include "headroom_runs/records/head_records.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"
#include "support/recipe_run.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

PruningRecipe swapping(RegrowWith with, const Pace& pace = OneShot{.at = 2}) {
  return {.remove = 6,
          .examples = 20,
          .pace = pace,
          .budget = {.at_least_of_kind = 0},
          .rescoring = Rescoring::each_event,
          .regrowth = Regrowth{.every = 2, .share = 0.7, .until = 11, .with = with}};
}

/// The events of a step.
std::vector<PruningEvent> events_at(const PruningParts& parts, Index step) {
  std::vector<PruningEvent> events = parts.history().timeline;
  std::erase_if(events, [&](const PruningEvent& event) { return event.step != step; });
  return events;
}

Index count_of_kind(const std::vector<HeadId>& heads, AttentionKind kind) {
  return std::count_if(heads.begin(), heads.end(),
                       [&](const HeadId& head) { return head.kind == kind; });
}

NamedAttention attention_of(Module& model, const HeadId& head) {
  for (const NamedAttention& found : attentions(model)) {
    if (found.id(head.head) == head) return found;
  }
  throw UsageError("no such head");
}

/// A pruner alone, without the training: the model changes by its events only.
struct UntrainedRun {
  explicit UntrainedRun(const PruningRecipe& recipe)
      : run(recipe_settings(), small_task()), pruner(run.learner(), run.optimizer(), recipe) {
    Rng rng(8, "biases");
    for (const NamedParameter& parameter : parameters(run.model())) {
      if (parameter.tensor.rank() != 1) continue;  // biases are 0 at first, and would hide errors
      Array& values = Tensor(parameter.tensor).edit_value();
      for (Index i = 0; i < values.size(); ++i) values[i] += Real(0.1) * rng.normal();
    }
  }
  /// Updates the pruner after a step and returns the new events.
  std::vector<PruningEvent> after(Index step) {
    StepReport report{.step = step};
    const std::size_t before = pruner.timeline().size();
    pruner.after_update(report);
    return {pruner.timeline().begin() + Index(before), pruner.timeline().end()};
  }
  TrainingRun run;
  Pruner pruner;
};

}  // namespace

TEST_CASE("swaps keep the number of heads, and bring back heads that were removed before",
          "[slow]") {
  for (const RegrowWith with : all_of<RegrowWith>()) {
    for (const BudgetOver over : all_of<BudgetOver>()) {
      for (const Pace& pace :
           {Pace(OneShot{.at = 2}), Pace(Gradual{.from = 1, .to = 9, .every = 2})}) {
        INFO(name_of(with) << ", " << name_of(over) << ", " << name_of(pace));
        PruningRecipe recipe = swapping(with, pace);
        recipe.budget.over = over;
        RecipeRun swapped(recipe);
        const std::vector<HeadId> all = live_heads(swapped.run.model());
        std::set<HeadId> alive(all.begin(), all.end());
        std::map<HeadId, Index> removed_at;
        Index swaps = 0;
        for (Index step = 1; step <= recipe_steps; ++step) {
          const StepReport report = swapped.run.step();
          CHECK(report.heads_alive == 12 - headroom::removed_at(pace, 6, step));
          CHECK(report.settled == (step >= 11));
          for (const PruningEvent& event : events_at(swapped.parts, step)) {
            CHECK(event.heads.size() == event.scores.size());
            if (!event.regrown.empty()) {
              CHECK(event.heads.size() == alive.size());
              CHECK(event.regrown.size() == event.removed.size());
              CHECK(std::ssize(event.regrown) <=
                    swapped_at(*recipe.regrowth, first_step(pace), std::ssize(alive), step));
              swaps += std::ssize(event.regrown);
              for (const AttentionKind kind : all_of<AttentionKind>()) {
                if (over == BudgetOver::global) continue;
                CHECK(count_of_kind(event.regrown, kind) == count_of_kind(event.removed, kind));
              }
            }
            for (const HeadId& head : event.regrown) {
              REQUIRE(removed_at.contains(head));
              CHECK(removed_at.at(head) < step);
              removed_at.erase(head);
            }
            for (const HeadId& head : event.removed) {
              CHECK(alive.erase(head) == 1);
              removed_at[head] = step;
            }
            alive.insert(event.regrown.begin(), event.regrown.end());
          }
          const std::vector<HeadId> now = live_heads(swapped.run.model());
          CHECK(std::set<HeadId>(now.begin(), now.end()) == alive);
        }
        CHECK(swaps >= 4);
        std::set<Index> turns;
        for (const HeadHistory& head : swapped.parts.history().heads) {
          const auto gone = removed_at.find(head.id);
          CHECK(head.removed_at ==
                (gone == removed_at.end() ? std::nullopt : std::optional(gone->second)));
          CHECK(head.turn.has_value() == head.removed_at.has_value());
          if (head.turn) CHECK(turns.insert(*head.turn).second);
        }
        RunRecord page;
        add_history(page, swapped.parts.history(), "fused", recipe_steps);
        CHECK(page.schedule.back() == ScheduleLine{recipe_steps, 6});
        CHECK(page.timeline == swapped.parts.history().timeline);
        check(page, "page");
        CHECK(struct_of<RunRecord>(json_of(page), "page").timeline == page.timeline);
      }
    }
  }
}

TEST_CASE("the least important heads leave, those come back that gain most", "[slow]") {
  for (const RegrowWith with : all_of<RegrowWith>()) {
    INFO(name_of(with));
    const PruningRecipe recipe = swapping(with);
    UntrainedRun swapped(recipe);
    Module& model = swapped.run.model();
    std::map<HeadId, HeadStash> gone;
    Index swaps = 0;
    for (Index step = 1; step <= recipe_steps; ++step) {
      const auto important = measured_sensitivity(swapped.run.learner(), recipe.examples);
      std::map<HeadId, HeadStash> alive;
      for (const HeadId& head : live_heads(model)) {
        alive[head] = stash(swapped.run.optimizer(), head);
      }
      std::vector<HeadScore> gains;
      if (!gone.empty()) {
        std::vector<HeadStash> fresh;
        std::vector<RemovedHead> stashed;
        for (const auto& [head, its] : gone) {
          fresh.push_back(fresh_head(model, head, 1, step));
          stashed.push_back({its});
        }
        gains = with == RegrowWith::fresh ? gains_of_fresh(swapped.run.learner(), fresh, 20)
                                          : gains_of_stashed(swapped.run.learner(), stashed, 20);
      }
      for (const PruningEvent& event : swapped.after(step)) {
        std::vector<HeadId> leaving = least_important_first(important);
        leaving.resize(event.removed.size());
        CHECK(event.removed == leaving);
        std::vector<HeadId> best = least_important_first(gains);
        std::reverse(best.begin(), best.end());
        best.resize(event.regrown.size());
        CHECK(event.regrown == best);
        for (const HeadId& head : event.regrown) {
          ++swaps;
          const HeadShare now = share_of(attention_of(model, head), head.head);
          const HeadStash wanted =
              with == RegrowWith::fresh ? fresh_head(model, head, 1, step) : gone.at(head);
          for (const auto& [part, value] : wanted.share.value) {
            CHECK_THAT(now.value.at(part), SameBits(value));
          }
          gone.erase(head);
        }
        for (const HeadId& head : event.removed) gone[head] = alive.at(head);
      }
    }
    CHECK(swaps >= 5);
  }
}

TEST_CASE("a head that comes back takes its mean out of the output bias", "[slow]") {
  PruningRecipe recipe = swapping(RegrowWith::stash);
  recipe.compensation = Compensation::mean;
  UntrainedRun swapped(recipe);
  Module& model = swapped.run.model();
  const auto bias_of = [](const NamedAttention& attention) {
    for (const HeadSlice& slice : attention.attention->head_slices()) {
      if (slice.role != HeadRole::output_bias) continue;
      for (const auto& [name, tensor] : parameters(*attention.attention)) {
        if (name == slice.name) return tensor.value().clone();
      }
    }
    throw UsageError("no output bias");
  };
  std::map<AttentionLocation, Array> first;
  for (const NamedAttention& found : attentions(model)) first[found.location()] = bias_of(found);
  std::map<HeadId, std::vector<double>> in_bias;  // W_O^h m_h of the removed heads
  Index returned = 0;
  for (Index step = 1; step <= recipe_steps; ++step) {
    const std::vector<HeadId> alive = live_heads(model);
    const std::map<HeadId, Array> means =
        mean_head_outputs(swapped.run.learner(), alive, ExampleSet::importance, recipe.examples);
    std::map<HeadId, std::vector<double>> addition;
    for (const HeadId& head : alive) {
      const Array weight =
          share_of(attention_of(model, head), head.head).value.at(HeadRole::output);
      std::vector<double>& sum = addition[head];
      sum.resize(std::size_t(weight.dim(0)));
      for (Index i = 0; i < weight.size(); ++i) {
        sum[std::size_t(i / weight.dim(1))] +=
            double(weight[i]) * double(means.at(head)[i % weight.dim(1)]);
      }
    }
    for (const PruningEvent& event : swapped.after(step)) {
      for (const HeadId& head : event.regrown) returned += Index(in_bias.erase(head));
      for (const HeadId& head : event.removed) in_bias[head] = addition.at(head);
    }
    for (const NamedAttention& found : attentions(model)) {
      const Array now = bias_of(found);
      for (Index c = 0; c < now.size(); ++c) {
        double expected = double(first.at(found.location())[c]);
        for (const auto& [head, sum] : in_bias) {
          const AttentionLocation place{head.kind, head.layer};
          if (place == found.location()) expected += sum[std::size_t(c)];
        }
        CHECK(std::abs(double(now[c]) - expected) < 100 * double(same_function));
      }
    }
  }
  CHECK(returned >= 5);
}

TEST_CASE("a checkpoint whose stash is not that of the removed heads is refused") {
  const TemporaryFolder folder;
  const PruningRecipe recipe = swapping(RegrowWith::stash);
  RecipeRun run(recipe);
  while (run.run.steps() < 5) run.run.step();
  run.run.save(folder / "run");
  TensorFile file = TensorFile::read(folder / "run");
  Record heads = parse_json(file.metadata.at("pruning.stash.heads"), "stash");
  REQUIRE(heads.size() == 6);
  heads.erase(heads.size() - 1);
  file.metadata["pruning.stash.heads"] = heads.dump();
  file.metadata.erase("checksums");  // they would name the change
  file.write(folder / "wrong");
  RecipeRun other(recipe);
  CHECK_THROWS_AS(other.run.load(folder / "wrong"), FileError);
  CHECK_THROWS_WITH(RecipeRun(recipe).run.load(folder / "wrong"),
                    Catch::Matchers::Contains("stashed heads are not those that were removed"));
}
