// Choosing and removing heads while a model trains.
#include "headroom/heads/pruner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/heads/choosers.hpp"
#include "headroom/io/fields.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::vector<HeadScore> measured_by(Learner& learner, const char* metric, Index examples) {
  return measure_importance(learner, {metric}, {.examples = examples}).importance(metric);
}

/// Throws UsageError for a choice that cannot be carried out.
void check(const HeadChoice& choice, const std::vector<HeadId>& alive, Index remove) {
  for (const HeadId& head : choice.order) {
    if (std::find(alive.begin(), alive.end(), head) != alive.end()) continue;
    throw UsageError(fmt::format("pruner: the chosen {} is not alive", head.text()));
  }
  if (std::ssize(choice.order) < remove) {
    throw UsageError(fmt::format("pruner: {} heads were chosen, but the schedule removes {}",
                                 choice.order.size(), remove));
  }
  for (const std::vector<HeadScore>* scores : {&choice.importance, &choice.cost}) {
    const bool same =
        std::equal(scores->begin(), scores->end(), alive.begin(), alive.end(),
                   [](const HeadScore& score, const HeadId& head) { return score.head == head; });
    if (same || scores->empty()) continue;
    throw UsageError("pruner: importance and cost must list all live heads, in their order");
  }
}

/// Throws UsageError if the chooser cannot work on a model. `recorded`: training records scores.
void require_choosable(Learner& learner, const std::string& chooser, bool recorded) {
  if (!is_metric_choice(chooser)) {
    HeadGame(learner, ExampleSet::importance, 1);  // throws for too many heads
    return;
  }
  const std::vector<HeadId> alive = live_heads(learner.model());
  RecordedScores scores;
  for (const std::string& name : TrainingScores::metrics()) {
    for (const HeadId& head : alive) {
      if (recorded) scores[name].push_back({head, 0});
    }
  }
  const std::unique_ptr<HeadMetric> metric = head_metric(chooser).make();
  metric->begin({learner.model(), alive, 1, scores});
  if (const std::string reason = metric->absent(); !reason.empty()) {
    throw UsageError(fmt::format("metric {}: {}", chooser, reason));
  }
}

/// The scores of a page, which shows them as shares of the largest one and so counts from the
/// lowest if that is negative.
std::string importance_in_words(const std::string& chooser, bool from_lowest) {
  if (!is_metric_choice(chooser)) return {};
  const MetricInfo& info = head_metric(chooser).info;
  return fmt::format("{}{}, {}{}", info.keep_low ? "minus " : "", info.name, info.formula,
                     from_lowest ? ", less that of the lowest head" : "");
}

}  // namespace

std::vector<HeadScore> measured_sensitivity(Learner& learner, Index examples) {
  return measured_by(learner, "sensitivity", examples);
}

std::vector<HeadScore> measured_removal_cost(Learner& learner, Index examples) {
  return measured_by(learner, "leave_one_out", examples);
}

void describe_heads(RunRecord& run, const std::vector<Pruner::Head>& heads, double lowest,
                    const std::string& model) {
  run.heads.clear();
  for (const Pruner::Head& entry : heads) {
    HeadRecord& head = run.heads.emplace_back(HeadRecord{.kind = entry.kind,
                                                         .layer = entry.layer,
                                                         .head = entry.head,
                                                         .removed_at = entry.removed_at,
                                                         .cost = entry.cost});
    if (!entry.importance) continue;
    head.importance =
        PerModel(std::vector<std::pair<std::string, double>>{{model, *entry.importance - lowest}});
  }
}

void describe_timeline(RunRecord& run, const std::vector<PruningEvent>& timeline, Index steps) {
  run.timeline = timeline;
  auto alive = std::ssize(run.heads);
  run.schedule = {{0, alive}};
  for (const PruningEvent& event : timeline) {
    if (event.removed.empty() && event.regrown.empty()) continue;
    alive += std::ssize(event.regrown) - std::ssize(event.removed);
    run.schedule.push_back({event.step, alive});
  }
  run.schedule.push_back({steps, alive});
}

Pruner::Pruner(Learner& learner, Optimizer& optimizer, const PruningRecipe& recipe,
               std::uint64_t seed, const TrainingScores* training)
    : Pruner(&learner, optimizer, recipe,
             [this, seed, training](Index remove) { return measured(remove, seed, training); }) {
  // Now rather than at the first event, when all steps since the last save would be lost.
  if (recipe.given.empty()) {
    headroom::choose(learner.model(), live_heads(learner.model()), recipe.remove, recipe.budget);
  }
  require_choosable(learner, recipe.chooser, training != nullptr);
}

Pruner::Pruner(Optimizer& optimizer, const PruningRecipe& recipe, ChooseHeads choose)
    : Pruner(nullptr, optimizer, recipe, std::move(choose)) {
  if (recipe.compensation == Compensation::none) return;
  throw UsageError("pruner: means of heads need a learner; without one, leave out compensation");
}

Pruner::Pruner(Learner* learner, Optimizer& optimizer, const PruningRecipe& recipe,
               ChooseHeads choose)
    : learner_(learner), optimizer_(&optimizer), recipe_(recipe), choose_(std::move(choose)) {
  recipe.check();
}

HeadChoice Pruner::measured(Index remove, std::uint64_t seed,
                            const TrainingScores* training) const {
  const RecordedScores recorded = training == nullptr ? RecordedScores() : training->scores();
  Learner& learner = *learner_;
  Module& model = learner.model();
  HeadChoice choice;
  const bool by_metric = is_metric_choice(recipe_.chooser);
  if (by_metric) {
    const ImportanceTable table =
        measure_importance(learner, {recipe_.chooser},
                           {.examples = recipe_.examples, .seed = seed, .recorded = recorded});
    choice.importance = table.importance(recipe_.chooser);
  }
  if (!recipe_.given.empty()) {
    choice.order = recipe_.given;
  } else if (by_metric) {
    choice.order =
        headroom::choose(model, least_important_first(choice.importance), remove, recipe_.budget);
  } else {
    HeadGame game(learner, ExampleSet::importance, recipe_.examples);
    const Chooser chooser = make_chooser(recipe_.chooser, {.seed = seed, .recorded = recorded});
    choice.order = chooser(game, remove, recipe_.budget);
  }
  // For the record of the run. The game has no more players.
  if (!chosen() && std::ssize(live_heads(model)) <= HeadSet::most) {
    choice.cost = measured_removal_cost(learner);
  }
  return choice;
}

void Pruner::choose(Index step) {
  if (!chosen()) choose_next(step, recipe_.remove);
}

void Pruner::choose_next(Index step, Index count) {
  const std::vector<HeadId> alive = live_heads(optimizer_->model());
  const HeadChoice choice = choose_(count);
  check(choice, alive, count);
  if (!chosen()) {
    for (std::size_t i = 0; i < alive.size(); ++i) {
      Head& head = heads_.emplace_back(Head{alive[i].kind, alive[i].layer, alive[i].head});
      if (!choice.importance.empty()) head.importance = choice.importance[i].score;
      if (!choice.cost.empty()) head.cost = choice.cost[i].score;
    }
  }
  const Index before = gone();
  for (Index i = 0; i < count; ++i) entry(at(choice.order, i)).turn = before + i;
  if (choice.importance.empty()) return;
  PruningEvent& now = event(step);
  now.heads = alive;
  for (const HeadScore& score : choice.importance) now.scores.push_back(score.score);
}

void Pruner::after_update(StepReport& report) {
  const Index step = report.step;
  if (recipe_.gates && !recipe_.chooser.empty() && step == recipe_.gates->end) choose_next(step, 0);
  if (recipe_.remove == 0) return;
  if (step < last_step(recipe_.pace)) report.settled = false;
  if (step < first_step(recipe_.pace)) return;
  const Index due = removed_at(recipe_.pace, recipe_.remove, step) - gone();
  if (recipe_.rescoring == Rescoring::once) {
    choose(step);
  } else if (due > 0) {
    choose_next(step, due);
  }
  if (due <= 0) return;
  remove(next(due), step);
}

void Pruner::remove(const std::vector<HeadId>& heads, Index step) {
  if (learner_ != nullptr) compensate(*learner_, heads, recipe_.compensation, recipe_.examples);
  optimizer_->apply(prune(optimizer_->model(), heads));
  for (const HeadId& head : heads) entry(head).removed_at = step;
  event(step).removed = heads;
}

std::vector<HeadId> Pruner::next(Index count) const {
  std::map<Index, HeadId> waiting;
  for (const Head& head : heads_) {
    if (head.turn && !head.removed_at) waiting[*head.turn] = head.id();
  }
  std::vector<HeadId> heads;
  for (const auto& [turn, head] : waiting) {
    if (std::ssize(heads) < count) heads.push_back(head);
  }
  return heads;
}

PruningEvent& Pruner::event(Index step) {
  if (timeline_.empty() || timeline_.back().step != step) {
    timeline_.push_back({.step = step, .by = recipe_.given.empty() ? recipe_.chooser : "given"});
  }
  return timeline_.back();
}

Pruner::Head& Pruner::entry(const HeadId& head) {
  const auto found = std::find_if(heads_.begin(), heads_.end(),
                                  [&](const Head& entry) { return entry.id() == head; });
  if (found != heads_.end()) return *found;
  throw UsageError(fmt::format("pruner: {} was not alive when heads were chosen", head.text()));
}

Index Pruner::gone() const {
  return std::count_if(heads_.begin(), heads_.end(),
                       [](const Head& head) { return head.removed_at.has_value(); });
}

void Pruner::describe(RunRecord& run, const std::string& model, Index steps) const {
  if (!chosen()) return;
  double lowest = 0;
  for (const Head& head : heads_) lowest = std::min(lowest, head.importance.value_or(0));
  run.importance_name = importance_in_words(recipe_.chooser, lowest < 0);
  run.cost_name = removal_cost_in_words;
  describe_heads(run, heads_, lowest, model);
  describe_timeline(run, timeline_, steps);
}

void Pruner::save_state(StateWriter to) const {
  to.record("recipe", json_of(recipe_));
  to.record("heads", json_of(heads_));
  to.record("timeline", json_of(timeline_));
}

void Pruner::load_state(const StateReader& from) {
  heads_.clear();
  timeline_.clear();
  if (!from.has("recipe")) return;
  Record saved;
  try {
    heads_ = struct_of<std::vector<Head>>(from.record("heads"), from.where("heads"));
    timeline_ =
        struct_of<std::vector<PruningEvent>>(from.record("timeline"), from.where("timeline"));
    if (timeline_.empty()) return;
    // Through the struct: fields that a recipe had not yet when it was saved have their defaults.
    saved = json_of(struct_of<PruningRecipe>(from.record("recipe"), from.where("recipe")));
  } catch (const DataError& error) {
    throw FileError(error.what());
  }
  const Record differences = Record::diff(saved, json_of(recipe_));
  if (differences.empty()) return;
  const Record::json_pointer place(differences[0]["path"].get<std::string>());
  throw FileError(
      fmt::format("{}: the saved run has removed heads by another recipe; \"{}\" differs",
                  from.where("recipe"), place.to_string()));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
