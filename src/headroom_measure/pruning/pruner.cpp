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

/// Whether a budget lets a removed head take the place of a live one.
bool may_replace(BudgetOver over, const HeadId& live, const HeadId& removed) {
  return over == BudgetOver::global ||
         (live.kind == removed.kind &&
          (over == BudgetOver::per_kind || live.layer == removed.layer));
}

std::vector<RemovedHead>::const_iterator find_head(const std::vector<RemovedHead>& heads,
                                                   const HeadId& head) {
  return std::find_if(heads.begin(), heads.end(),
                      [&](const RemovedHead& one) { return one.stash.share.head == head; });
}

/// The mean of a stashed head in a checkpoint.
std::string mean_name(std::size_t stashed) { return fmt::format("stash.{}.mean", stashed); }

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
  if (recipe.regrowth && recipe.regrowth->with == RegrowWith::fresh) {
    for (const HeadId& head : live_heads(learner.model())) fresh_head(learner.model(), head, 1, 1);
  }
}

Pruner::Pruner(Optimizer& optimizer, const PruningRecipe& recipe, ChooseHeads choose)
    : Pruner(nullptr, optimizer, recipe, 1, std::move(choose)) {
  if (recipe.compensation == Compensation::none && !recipe.regrowth) return;
  throw UsageError(
      "pruner: compensation and regrowth need a learner to measure; without one, leave them out");
}

Pruner::Pruner(Learner* learner, Optimizer& optimizer, const PruningRecipe& recipe,
               std::uint64_t seed, ChooseHeads choose)
    : learner_(learner),
      optimizer_(&optimizer),
      seed_(seed),
      recipe_(recipe),
      choose_(std::move(choose)) {
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
  if (recipe_.gates && !recipe_.chooser.empty() && step == recipe_.gates->end) choose_next(step, 0);
  if (recipe_.remove == 0) return;
  const Index end = recipe_.regrowth ? recipe_.regrowth->until : 0;
  if (step < std::max(last_step(recipe_.pace), end)) report.settled = false;
  if (step < first_step(recipe_.pace)) return;
  remove_due(step);
  if (recipe_.regrowth) swap_due(step);
}

void Pruner::remove_due(Index step) {
  const Index due = removed_at(recipe_.pace, recipe_.remove, step) - gone();
  if (recipe_.rescoring == Rescoring::once) {
    choose(step);
  } else if (due > 0) {
    choose_next(step, due);
  }
  if (due > 0) change(next(due), {}, step);
}

void Pruner::swap_due(Index step) {
  Module& model = optimizer_->model();
  const std::vector<HeadId> alive = live_heads(model);
  Index count = swapped_at(*recipe_.regrowth, first_step(recipe_.pace), std::ssize(alive), step);
  const auto may_return = [&](const HeadHistory& head) {
    return head.removed_at && *head.removed_at < step;
  };
  count = std::min(count, Index(std::count_if(heads_.begin(), heads_.end(), may_return)));
  count = std::min(count, most_removable(model, alive, recipe_.budget));
  if (count == 0) return;
  timeline_.push_back(new_event(step));
  choose_next(step, count);
  std::vector<HeadId> out;
  std::vector<RemovedHead> in, waiting = candidates(step);
  for (const HeadId& head : next(count)) {
    const auto partner = std::find_if(waiting.begin(), waiting.end(), [&](const RemovedHead& one) {
      return may_replace(recipe_.budget.over, head, one.stash.share.head);
    });
    if (partner == waiting.end()) continue;
    out.push_back(head);
    in.push_back(std::move(*partner));
    waiting.erase(partner);
  }
  change(out, in, step);
}

std::vector<RemovedHead> Pruner::candidates(Index step) const {
  std::vector<HeadId> heads;
  for (const HeadHistory& head : heads_) {
    if (head.removed_at && *head.removed_at < step) heads.push_back(head.id);
  }
  std::vector<RemovedHead> all;
  std::vector<HeadScore> gains;
  if (recipe_.regrowth->with == RegrowWith::stash) {
    for (const HeadId& head : heads) all.push_back(*find_head(stashed_, head));
    gains = gains_of_stashed(*learner_, all, recipe_.examples);
  } else {
    std::vector<HeadStash> fresh;
    for (const HeadId& head : heads) {
      fresh.push_back(fresh_head(optimizer_->model(), head, seed_, step));
      all.push_back({fresh.back()});
    }
    gains = gains_of_fresh(*learner_, fresh, recipe_.examples);
  }
  std::vector<HeadId> order = least_important_first(gains);
  std::vector<RemovedHead> sorted;
  for (auto head = order.rbegin(); head != order.rend(); ++head) {
    sorted.push_back(*find_head(all, *head));
  }
  return sorted;
}

void Pruner::change(const std::vector<HeadId>& out, const std::vector<RemovedHead>& in,
                    Index step) {
  if (out.empty() && in.empty()) return;
  std::map<HeadId, Array> means;
  if (recipe_.compensation == Compensation::mean) {
    means = mean_head_outputs(*learner_, out, ExampleSet::importance, recipe_.examples);
    compensate(optimizer_->model(), means);
  }
  std::vector<HeadStash> returning;
  for (const RemovedHead& head : in) returning.push_back(head.stash);
  const std::vector<HeadStash> removed = swap_heads(*optimizer_, out, returning);
  undo_compensation(optimizer_->model(), in);
  for (const RemovedHead& head : in) {
    const HeadId& id = head.stash.share.head;
    entry(id).removed_at.reset();
    entry(id).turn.reset();
    std::erase_if(stashed_, [&](const RemovedHead& one) { return one.stash.share.head == id; });
    event(step).regrown.push_back(id);
  }
  for (const HeadStash& head : removed) {
    const HeadId& id = head.share.head;
    entry(id).removed_at = step;
    event(step).removed.push_back(id);
    if (!recipe_.regrowth || recipe_.regrowth->with != RegrowWith::stash) continue;
    stashed_.push_back({head, means.contains(id) ? means.at(id) : Array()});
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

Index Pruner::gone() const {
  return std::count_if(heads_.begin(), heads_.end(),
                       [](const HeadHistory& head) { return head.removed_at.has_value(); });
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
  if (stashed_.empty()) return;
  std::vector<HeadStash> stashes;
  for (const RemovedHead& head : stashed_) {
    if (head.mean.defined()) to.array(mean_name(stashes.size()), head.mean);
    stashes.push_back(head.stash);
  }
  save_stashes(to.part("stash"), stashes);
}

void Pruner::load_state(const StateReader& from) {
  heads_.clear();
  timeline_.clear();
  stashed_.clear();
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
  if (recipe_.regrowth && recipe_.regrowth->with == RegrowWith::stash && gone() > 0) {
    load_stashed(from);
  }
}

void Pruner::check_saved(const std::string& where) const {
  Module& model = optimizer_->model();
  std::vector<HeadId> saved;
  for (const HeadHistory& head : heads_) saved.push_back(head.id);
  check_saved_heads(model, saved, where);
  if (recipe_.gates) return;  // they remove heads in its place
  const std::vector<HeadId> alive = live_heads(model);
  const bool same = std::ssize(alive) == std::ssize(heads_) - gone() &&
                    std::all_of(heads_.begin(), heads_.end(), [&](const HeadHistory& head) {
                      const bool lives =
                          std::find(alive.begin(), alive.end(), head.id) != alive.end();
                      return lives != head.removed_at.has_value();
                    });
  if (same) return;
  throw FileError(fmt::format("{}: the removed heads are not those that the model lacks", where));
}

void Pruner::load_stashed(const StateReader& from) {
  for (HeadStash& stash : load_stashes(from.part("stash"))) {
    const std::string mean = mean_name(stashed_.size());
    stashed_.push_back({std::move(stash), from.has(mean) ? from.array(mean) : Array()});
  }
  const auto stashed = [&](const HeadHistory& head) {
    return find_head(stashed_, head.id) != stashed_.end();
  };
  if (std::ssize(stashed_) == gone() &&
      std::all_of(heads_.begin(), heads_.end(), [&](const HeadHistory& head) {
        return head.removed_at.has_value() == stashed(head);
      }))
    return;
  throw FileError(
      fmt::format("{}: the stashed heads are not those that were removed", from.where("stash")));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
