// Training runs that follow recipes: every schedule, rescoring and budget removes the heads that it
// should, and a run that stops after any step goes on to the same bits.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom_runs/records/head_records.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"
#include "support/recipe_run.hpp"

using namespace headroom;
using namespace headroom::test;
using Catch::Matchers::Contains;

namespace {

struct Kind {
  PruningRecipe recipe{};
  TrainingSettings settings = recipe_settings();
  Task task = small_task();
};

/// Every recipe; and without one every optimizer with each of its granularities, and every kind of
/// model.
std::map<std::string, Kind> runs_of_every_kind() {
  std::map<std::string, Kind> all;
  for (const auto& [name, recipe] : recipes()) all[name].recipe = recipe;
  for (const OptimizerKind kind : all_of<OptimizerKind>()) {
    for (const Granularity granularity : all_of<Granularity>()) {
      const bool alike = kind == OptimizerKind::adamw || kind == OptimizerKind::sgd;
      if (alike && granularity != Granularity::tensor) continue;
      OptimizerChoice& choice =
          all[fmt::format("{} by {}", name_of(kind), name_of(granularity))].settings.optimizer;
      choice.kind = kind;
      choice.granularity = granularity;
    }
  }
  all["brackets"].task = make_task("brackets", {.train = 90, .validation = 40, .test = 9});
  TextCorpus text{.name = "text",
                  .vocabulary = Vocabulary::of_text(TokenKind::characters, Specials::none, "ab"),
                  .train = {},
                  .validation = {}};
  for (int i = 0; i < 200; ++i) text.train.push_back((i * i) % 3 == 0 ? 1 : 0);
  text.validation.assign(text.train.begin(), text.train.begin() + 40);
  all["text"].task = text;
  all["text"].settings.learner.length = 12;
  all["text"].settings.derive();
  return all;
}

}  // namespace

TEST_CASE("a run of any kind that stops after any step ends in the same bits", "[slow]") {
  const TemporaryFolder folder;
  for (const auto& [name, kind] : runs_of_every_kind()) {
    INFO(name);
    const auto& [recipe, settings, task] = kind;
    RecipeRun whole(recipe, settings, task);
    std::vector<std::string> after;  // the checkpoint after each step
    for (Index step = 1; step <= recipe_steps; ++step) {
      whole.run.step();
      after.push_back(checkpoint_bytes(whole, folder));
      write_file(folder / std::to_string(step), after.back());
    }
    // One run from each checkpoint, a step on: together they cover every place to stop.
    for (Index stop = 1; stop < recipe_steps; ++stop) {
      RecipeRun next(recipe, settings, task);
      next.run.load(folder / std::to_string(stop));
      next.run.step();
      INFO("stopped after step " << stop);
      const bool same = checkpoint_bytes(next, folder) == at(after, stop);
      REQUIRE(same);
    }
  }
}

TEST_CASE("every schedule removes its heads, whenever they are scored") {
  for (const auto& [name, recipe] : recipes()) {
    if (recipe.remove == 0 || recipe.regrowth) continue;
    INFO(name);
    RecipeRun pruned(recipe);
    for (Index step = 1; step <= recipe_steps; ++step) {
      const StepReport report = pruned.run.step();
      CHECK(report.heads_alive == 12 - removed_at(recipe.pace, 6, step));
      CHECK(report.settled == (step >= last_step(recipe.pace)));
    }
    const std::vector<PruningEvent> timeline = pruned.parts.history().timeline;
    std::set<HeadId> removed;
    Index scored = 0, alive = 12;
    for (const PruningEvent& event : timeline) {
      CHECK(event.by == recipe.chooser);
      CHECK(event.heads.size() == event.scores.size());
      if (!event.heads.empty()) {
        CHECK(std::ssize(event.heads) == alive);
        ++scored;
      }
      alive -= std::ssize(event.removed);
      for (const HeadId& head : event.removed) CHECK(removed.insert(head).second);
      // The heads with the lowest scores were removed.
      if (recipe.rescoring == Rescoring::once || event.heads.empty()) continue;
      std::vector<HeadScore> scores;
      for (std::size_t i = 0; i < event.heads.size(); ++i) {
        scores.push_back({event.heads[i], event.scores[i]});
      }
      std::vector<HeadId> order = least_important_first(scores);
      order.resize(event.removed.size());
      CHECK(order == event.removed);
    }
    CHECK(removed.size() == 6);
    const bool once = recipe.rescoring == Rescoring::once;
    const bool by_metric = is_metric_choice(recipe.chooser);
    CHECK(scored == (!by_metric ? 0 : once ? 1 : std::ssize(timeline)));
    for (const HeadHistory& head : pruned.parts.history().heads) {
      CHECK(head.removed_at.has_value() == removed.contains(head.id));
      CHECK(head.importance.has_value() == by_metric);
      CHECK(head.cost.has_value());
    }
    RunRecord page;
    add_history(page, pruned.parts.history(), "fused", recipe_steps);
    CHECK(page.timeline == timeline);
    CHECK(page.schedule.back() == ScheduleLine{recipe_steps, 6});
    CHECK(page.importance_name.empty() == !by_metric);
  }
}

TEST_CASE("budgets hold at every event") {
  for (const BudgetOver over : all_of<BudgetOver>()) {
    for (const Rescoring rescoring : {Rescoring::once, Rescoring::each_event}) {
      INFO(name_of(over) << ", " << name_of(rescoring));
      RecipeRun pruned({.remove = 7,
                        .examples = 20,
                        .pace = Gradual{.from = 2, .to = 10, .every = 2},
                        .budget = {.over = over, .at_least = 1},
                        .rescoring = rescoring});
      while (pruned.run.steps() < recipe_steps) {
        pruned.run.step();
        for (const NamedAttention& found : attentions(pruned.run.model())) {
          CHECK_FALSE(found.attention->alive().empty());
        }
      }
      std::vector<Index> left;
      for (const NamedAttention& found : attentions(pruned.run.model())) {
        left.push_back(std::ssize(found.attention->alive()));
      }
      std::sort(left.begin(), left.end());
      if (over != BudgetOver::global) CHECK(left == std::vector<Index>{1, 2, 2});
    }
  }
}

TEST_CASE("compensation adds the means of the removed heads to the output biases, and no more") {
  PruningRecipe recipe = recipes().at("one_shot, once");
  RecipeRun whole(PruningRecipe{}), cut(recipe);
  recipe.compensation = Compensation::mean;
  RecipeRun compensated(recipe);
  for (RecipeRun* run : {&whole, &cut, &compensated}) {
    while (run->run.steps() < 4) run->run.step();
  }
  const std::vector<HeadId> removed = compensated.parts.history().timeline.back().removed;
  REQUIRE(removed.size() == 6);
  CHECK(cut.parts.history().timeline.back().removed == removed);
  std::map<HeadId, Array> means =
      mean_head_outputs(whole.run.learner(), removed, ExampleSet::importance, recipe.examples);
  // By output bias, the sum of W_O^h m_h.
  std::map<std::string, std::vector<double>> added;
  for (const NamedAttention& found : attentions(whole.run.model())) {
    for (const HeadId& head : removed) {
      if (!(found.id(head.head) == head)) continue;
      const Array weight = share_of(found, head.head).value.at(HeadRole::output);  // [C, D]
      for (const HeadSlice& part : found.attention->head_slices()) {
        if (part.role != HeadRole::output_bias) continue;
        std::vector<double>& sum = added[found.name + "." + part.name];
        sum.resize(std::size_t(weight.dim(0)));
        for (Index i = 0; i < weight.size(); ++i) {
          const Index d = i % weight.dim(1);
          sum[std::size_t(i / weight.dim(1))] += double(weight[i]) * double(means.at(head)[d]);
        }
      }
    }
  }
  CHECK(!added.empty());
  const std::vector<NamedParameter> with = parameters(compensated.run.model()),
                                    without = parameters(cut.run.model());
  REQUIRE(with.size() == without.size());
  for (std::size_t p = 0; p < with.size(); ++p) {
    INFO(with[p].name);
    const Array &now = with[p].tensor.value(), &before = without[p].tensor.value();
    const auto sum = added.find(with[p].name);
    if (sum == added.end()) {
      CHECK_THAT(now, SameBits(before));
      continue;
    }
    double most = 0;
    for (Index c = 0; c < now.size(); ++c) {
      const double more = sum->second[std::size_t(c)];
      most = std::max(most, std::abs(more));
      CHECK(std::abs(double(now[c]) - double(before[c]) - more) < 100 * double(same_function));
    }
    CHECK(most > 1e-3);
  }
}

TEST_CASE("gates record the scores of a metric before they remove heads") {
  PruningRecipe recipe = recipes().at("subset gates");
  RecipeRun pruned(recipe);
  while (pruned.run.steps() < recipe_steps) pruned.run.step();
  const std::vector<PruningEvent> timeline = pruned.parts.history().timeline;
  REQUIRE(timeline.size() == 2);
  CHECK(timeline[0].by == "sensitivity");
  CHECK(timeline[0].removed.empty());
  CHECK(timeline[0].heads.size() == 12);
  CHECK(timeline[1].by == "subset gates");
  CHECK(timeline[1].removed.size() == 6);
  CHECK(timeline[1].heads == timeline[0].heads);
  RunRecord page;
  add_history(page, pruned.parts.history(), "fused", recipe_steps);
  CHECK(page.timeline == timeline);
  CHECK(page.schedule == std::vector<ScheduleLine>{{0, 12}, {9, 6}, {recipe_steps, 6}});
}

TEST_CASE("a checkpoint from before the first event starts any recipe, a later one only its own") {
  const TemporaryFolder folder;
  const PruningRecipe own = recipes().at("one_shot, once"), other = recipes().at("gradual, once");
  RecipeRun first(own), plain(PruningRecipe{});
  for (int step = 1; step <= 2; ++step) {
    first.run.step();
    plain.run.step();
  }
  plain.run.save(folder / "trunk");
  first.run.save(folder / "early");
  RecipeRun branch(own), later(other);
  branch.run.load(folder / "trunk");
  later.run.load(folder / "early");
  for (RecipeRun* pruned : {&first, &branch, &later}) pruned->run.run();
  CHECK((checkpoint_bytes(branch, folder) == checkpoint_bytes(first, folder)));
  CHECK(later.parts.history().timeline.size() > 1);
  first.run.save(folder / "late");
  RecipeRun wrong(other);
  CHECK_THROWS_AS(wrong.run.load(folder / "late"), FileError);
  CHECK_THROWS_WITH(RecipeRun(other).run.load(folder / "late"), Contains("another recipe"));
}

TEST_CASE("a recipe that this model cannot follow is refused before a step") {
  CHECK_THROWS_WITH(RecipeRun({.chooser = "hard_concrete", .remove = 2, .pace = OneShot{.at = 3}}),
                    Contains("metric hard_concrete: "));
  CHECK_THROWS_WITH(RecipeRun({.remove = 10, .pace = OneShot{.at = 3}}), Contains("at most 9 can"));
}
