// Choosing and removing heads while a model trains.
#include "headroom/heads/pruner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "headroom/base/error.hpp"
#include "headroom/io/fields.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::vector<HeadScore> measured(Learner& learner, const char* metric, Index examples) {
  return measure_importance(learner, {metric}, {.examples = examples}).importance(metric);
}

Budget budget_of(const PrunerOptions& options) {
  return {.at_least = options.keep, .at_least_of_kind = 0};
}

/// Throws UsageError for a choice that cannot be carried out.
void check(const HeadChoice& choice, Index total) {
  const auto heads_of = [](const std::vector<HeadScore>& scores) {
    std::vector<HeadId> heads;
    for (const HeadScore& score : scores) heads.push_back(score.head);
    return heads;
  };
  const std::vector<HeadId> measured = heads_of(choice.importance);
  for (const HeadId& head : choice.order) {
    if (std::find(measured.begin(), measured.end(), head) != measured.end()) continue;
    throw UsageError(fmt::format("pruner: the chosen {} has no importance", head.text()));
  }
  if (Index(choice.order.size()) < total) {
    throw UsageError(fmt::format("pruner: {} heads were chosen, but the schedule removes {}",
                                 choice.order.size(), total));
  }
  if (!choice.cost.empty() && heads_of(choice.cost) != measured) {
    throw UsageError("pruner: importance and cost must list the same heads in the same order");
  }
}

}  // namespace

std::vector<HeadScore> measured_sensitivity(Learner& learner, Index examples) {
  return measured(learner, "sensitivity", examples);
}

std::vector<HeadScore> measured_removal_cost(Learner& learner, Index examples) {
  return measured(learner, "leave_one_out", examples);
}

Pruner::Pruner(Learner& learner, Optimizer& optimizer, const PrunerOptions& options)
    : Pruner(optimizer, options.pace, options.remove, [&learner, options] {
        HeadChoice choice;
        choice.importance = measured_sensitivity(learner);
        choice.cost = measured_removal_cost(learner);
        choice.order = headroom::choose(learner.model(), least_important_first(choice.importance),
                                        options.remove, budget_of(options));
        return choice;
      }) {
  // Now rather than at the scheduled step, when all steps since the last save would be lost.
  headroom::choose(learner.model(), live_heads(learner.model()), options.remove,
                   budget_of(options));
}

Pruner::Pruner(Optimizer& optimizer, const Pace& pace, Index remove, HeadChooser chooser)
    : optimizer_(&optimizer), pace_(pace), remove_(remove), chooser_(std::move(chooser)) {
  check(pace);
  if (remove < 0) throw UsageError(fmt::format("pruner: {} heads cannot be removed", remove));
}

void Pruner::choose() {
  if (chosen()) return;
  const HeadChoice choice = chooser_();
  check(choice, remove_);
  for (std::size_t i = 0; i < choice.importance.size(); ++i) {
    const auto& [head, importance] = choice.importance[i];
    Head& entry = heads_.emplace_back(Head{head.kind, head.layer, head.head, importance});
    if (i < choice.cost.size()) entry.cost = choice.cost[i].score;
    const auto place = std::find(choice.order.begin(), choice.order.end(), head);
    if (place != choice.order.end()) entry.turn = place - choice.order.begin();
  }
}

void Pruner::after_update(StepReport& report) {
  if (remove_ == 0) return;
  if (report.step < last_step(pace_)) report.settled = false;
  if (report.step < first_step(pace_)) return;
  choose();
  std::map<Index, HeadId> turns;
  for (const Head& entry : heads_) {
    if (entry.turn) turns[*entry.turn] = entry.id();
  }
  PruningPlan plan{pace_, remove_, {}};
  for (const auto& [turn, head] : turns) plan.order.push_back(head);
  Module& model = optimizer_->model();
  const std::vector<HeadId> due = plan.due(report.step, live_heads(model));
  optimizer_->apply(prune(model, due));
  for (Head& entry : heads_) {
    if (std::find(due.begin(), due.end(), entry.id()) != due.end()) entry.removed_at = report.step;
  }
}

void Pruner::describe(RunRecord& run, const std::string& model, Index steps) const {
  if (!chosen()) return;
  run.importance_name = "sensitivity, E |dL/dgate|";
  run.cost_name = removal_cost_in_words;
  run.heads.clear();
  run.schedule.clear();
  std::map<Index, Index> removals{{0, 0}};
  for (const Head& entry : heads_) {
    run.heads.push_back({.kind = entry.kind,
                         .layer = entry.layer,
                         .head = entry.head,
                         .removed_at = entry.removed_at,
                         .importance = PerModel(std::vector<std::pair<std::string, double>>{
                             {model, entry.importance}}),
                         .cost = entry.cost});
    if (entry.removed_at) ++removals[*entry.removed_at];
  }
  auto alive = Index(heads_.size());
  for (const auto& [step, count] : removals) {
    alive -= count;
    run.schedule.push_back({step, alive});
  }
  run.schedule.push_back({steps, alive});
}

void Pruner::save_state(StateWriter to) const { to.record("heads", json_of(heads_)); }

void Pruner::load_state(const StateReader& from) {
  try {
    heads_ = struct_of<std::vector<Head>>(from.record("heads"), from.where("heads"));
  } catch (const DataError& error) {
    throw FileError(error.what());
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
