// Choosing and removing heads while a model trains.
#include "headroom_measure/pruning/pruner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/io/json.hpp"
#include "headroom_measure/importance/choosers.hpp"
#include "pruning/saved_heads.hpp"
#include "pruning/swapper.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The costs of all heads are measured for the record of a run, one pass for each, up to so many.
constexpr Index most_for_record = 64;

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

Pruner::Pruner(Learner& learner, Optimizer& optimizer, const PruningRecipe& recipe,
               std::uint64_t seed, const TrainingScores* training)
    : Pruner(&learner, optimizer, recipe, seed,
             [this, training](Index remove) { return measured(remove, training); }) {
  // Now rather than at the first event, when all steps since the last save would be lost.
  if (recipe.given.empty()) {
    first_allowed(learner.model(), live_heads(learner.model()), recipe.remove, recipe.budget);
  }
  require_choosable(learner, recipe.chooser, training != nullptr);
  if (recipe.regrowth) swapper_ = std::make_unique<Swapper>(learner, optimizer, recipe_, seed);
}

Pruner::Pruner(Optimizer& optimizer, const PruningRecipe& recipe,
               std::function<HeadChoice(Index remove)> choose)
    : Pruner(nullptr, optimizer, recipe, 1, std::move(choose)) {
  if (recipe.compensation == Compensation::none && !recipe.regrowth) return;
  throw UsageError(
      "pruner: compensation and regrowth need a learner to measure; without one, leave them out");
}

Pruner::~Pruner() = default;

Pruner::Pruner(Learner* learner, Optimizer& optimizer, const PruningRecipe& recipe,
               std::uint64_t seed, std::function<HeadChoice(Index remove)> choose)
    : learner_(learner),
      optimizer_(&optimizer),
      seed_(seed),
      recipe_(recipe),
      measure_(std::move(choose)) {
  recipe.check();
}

HeadChoice Pruner::measured(Index remove, const TrainingScores* training) const {
  const RecordedScores recorded = training == nullptr ? RecordedScores() : training->scores();
  Learner& learner = *learner_;
  Module& model = learner.model();
  HeadChoice choice;
  const bool by_metric = is_metric_choice(recipe_.chooser);
  if (by_metric) {
    const ImportanceTable table =
        measure_importance(learner, {recipe_.chooser},
                           {.examples = recipe_.examples, .seed = seed_, .recorded = recorded});
    choice.importance = table.importance(recipe_.chooser);
  }
  if (!recipe_.given.empty()) {
    choice.order = recipe_.given;
  } else if (by_metric) {
    choice.order =
        first_allowed(model, least_important_first(choice.importance), remove, recipe_.budget);
  } else {
    HeadGame game(learner, ExampleSet::importance, recipe_.examples);
    const Chooser chooser =
        head_chooser(recipe_.chooser).make({.seed = seed_, .recorded = recorded});
    choice.order = chooser(game, remove, recipe_.budget);
  }
  if (!chosen() && std::ssize(live_heads(model)) <= most_for_record) {
    choice.cost = measured_removal_cost(learner);
  }
  return choice;
}

void Pruner::choose(Index step) {
  if (!chosen()) set_turns(step, recipe_.remove);
}

void Pruner::set_turns(Index step, Index count) {
  const std::vector<HeadId> alive = live_heads(optimizer_->model());
  const HeadChoice choice = measure_(count);
  check(choice, alive, count);
  if (!chosen()) {
    for (std::size_t i = 0; i < alive.size(); ++i) {
      HeadHistory& head = heads_.emplace_back(HeadHistory{alive[i]});
      if (!choice.importance.empty()) head.importance = choice.importance[i].score;
      if (!choice.cost.empty()) head.cost = choice.cost[i].score;
    }
  }
  const Index before = removals();
  for (HeadHistory& head : heads_) {
    if (!head.removed_at) head.turn.reset();
  }
  for (Index i = 0; i < count; ++i) entry(at(choice.order, i)).turn = before + i;
  if (choice.importance.empty()) return;
  PruningEvent& now = event(step);
  now.heads = alive;
  for (const HeadScore& score : choice.importance) now.scores.push_back(score.score);
}

void Pruner::after_update(StepReport& report) {
  const Index step = report.step;
  if (recipe_.gates && !recipe_.chooser.empty() && step == recipe_.gates->end) set_turns(step, 0);
  if (recipe_.remove == 0) return;
  const Index end = recipe_.regrowth ? recipe_.regrowth->until : 0;
  if (step < std::max(last_step(recipe_.pace), end)) report.settled = false;
  if (step < first_step(recipe_.pace)) return;
  remove_due(step);
  if (swapper_) swap_due(step);
}

void Pruner::remove_due(Index step) {
  const Index due = removed_at(recipe_.pace, recipe_.remove, step) - std::ssize(gone());
  if (recipe_.rescoring == Rescoring::once) {
    choose(step);
  } else if (due > 0) {
    set_turns(step, due);
  }
  if (due > 0) change({next(due)}, step);
}

void Pruner::swap_due(Index step) {
  const std::vector<HeadId> waiting = gone(step);
  const Index count = swapper_->due(step, std::ssize(waiting));
  if (count == 0) return;
  timeline_.push_back(new_event(step));
  set_turns(step, count);
  change(swapper_->paired(next(count), waiting, step), step);
}

void Pruner::change(const HeadSwap& swap, Index step) {
  if (swap.out.empty()) return;
  std::map<HeadId, Array> means;
  if (recipe_.compensation == Compensation::mean) {
    means = mean_head_outputs(*learner_, swap.out, ExampleSet::importance, recipe_.examples);
    compensate(optimizer_->model(), means);
  }
  if (swapper_) {
    swapper_->apply(swap, means);
  } else {
    optimizer_->apply(prune(optimizer_->model(), swap.out));
  }
  for (const RemovedHead& head : swap.in) {
    const HeadId& id = head.stash.share.head;
    entry(id).removed_at.reset();
    entry(id).turn.reset();
    event(step).regrown.push_back(id);
  }
  for (const HeadId& head : swap.out) {
    entry(head).removed_at = step;
    event(step).removed.push_back(head);
  }
}

std::vector<HeadId> Pruner::next(Index count) const {
  std::map<Index, HeadId> waiting;
  for (const HeadHistory& head : heads_) {
    if (head.turn && !head.removed_at) waiting[*head.turn] = head.id;
  }
  std::vector<HeadId> heads;
  for (const auto& [turn, head] : waiting) {
    if (std::ssize(heads) < count) heads.push_back(head);
  }
  return heads;
}

PruningEvent& Pruner::event(Index step) {
  if (timeline_.empty() || timeline_.back().step != step) {
    timeline_.push_back(new_event(step));
  }
  return timeline_.back();
}

PruningEvent Pruner::new_event(Index step) const {
  return {.step = step, .by = recipe_.given.empty() ? recipe_.chooser : "given"};
}

HeadHistory& Pruner::entry(const HeadId& head) {
  const auto found = std::find_if(heads_.begin(), heads_.end(),
                                  [&](const HeadHistory& entry) { return entry.id == head; });
  if (found != heads_.end()) return *found;
  throw UsageError(fmt::format("pruner: {} was not alive when heads were chosen", head.text()));
}

std::vector<HeadId> Pruner::gone(Index before) const {
  std::vector<HeadId> heads;
  for (const HeadHistory& head : heads_) {
    if (head.removed_at && *head.removed_at < before) heads.push_back(head.id);
  }
  return heads;
}

Index Pruner::removals() const {
  Index count = 0;
  for (const PruningEvent& event : timeline_) count += std::ssize(event.removed);
  return count;
}

PruningHistory Pruner::history() const {
  if (!chosen()) return {};
  double lowest = 0;
  for (const HeadHistory& head : heads_) lowest = std::min(lowest, head.importance.value_or(0));
  return {heads_, lowest, importance_in_words(recipe_.chooser, lowest < 0), removal_cost_in_words,
          timeline_};
}

void Pruner::save_state(StateWriter to) const {
  to.record("recipe", json_of(recipe_));
  to.record("heads", json_of(heads_));
  to.record("timeline", json_of(timeline_));
  if (swapper_) swapper_->save_state(to);
}

void Pruner::load_state(const StateReader& from) {
  heads_.clear();
  timeline_.clear();
  if (swapper_) swapper_->clear();
  if (!from.has("recipe")) return;
  Record saved;
  try {
    heads_ = struct_of<std::vector<HeadHistory>>(from.record("heads"), from.where("heads"));
    timeline_ =
        struct_of<std::vector<PruningEvent>>(from.record("timeline"), from.where("timeline"));
    check_saved_timeline(timeline_, heads_, from);
    if (timeline_.empty()) return;
    check_saved(from.where("heads"));
    // Through the struct: fields that a recipe had not yet when it was saved have their defaults.
    saved = json_of(struct_of<PruningRecipe>(from.record("recipe"), from.where("recipe")));
  } catch (const DataError& error) {
    throw FileError(error.what());
  }
  if (const auto difference = first_difference(saved, json_of(recipe_))) {
    throw FileError(
        fmt::format("{}: the saved run has removed heads by another recipe; \"{}\" differs",
                    from.where("recipe"), difference->place));
  }
  if (swapper_) swapper_->load_state(from, gone());
}

void Pruner::check_saved(const std::string& where) const {
  Module& model = optimizer_->model();
  std::vector<HeadId> saved;
  for (const HeadHistory& head : heads_) saved.push_back(head.id);
  check_saved_heads(model, saved, where);
  if (recipe_.gates) return;  // they remove heads in its place
  const std::vector<HeadId> alive = live_heads(model);
  const bool same = std::ssize(alive) == std::ssize(heads_) - std::ssize(gone()) &&
                    std::all_of(heads_.begin(), heads_.end(), [&](const HeadHistory& head) {
                      const bool lives =
                          std::find(alive.begin(), alive.end(), head.id) != alive.end();
                      return lives != head.removed_at.has_value();
                    });
  if (same) return;
  throw FileError(fmt::format("{}: the removed heads are not those that the model lacks", where));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
