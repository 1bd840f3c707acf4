// Pruner: removes heads from a model while it trains, as a recipe says.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "headroom/optim/optimizer.hpp"
#include "headroom/train/learner.hpp"
#include "headroom/train/step_part.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "headroom_measure/pruning/pruning_history.hpp"
#include "headroom_measure/pruning/pruning_recipe.hpp"
#include "headroom_measure/pruning/training_scores.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Which heads are to be removed, and the measurements behind the choice.
struct HeadChoice {
  std::vector<HeadId> order;          // first to be removed first
  std::vector<HeadScore> importance;  // of all live heads, in the order of live_heads(); or empty
  std::vector<HeadScore> cost;        // of the same heads, by leave_one_out; or empty
};

/// Sensitivity of a learner's model on at most `examples` of ExampleSet::importance, and the cost
/// of removing each head on at most 256 of them, both in evaluation mode. Gradients are left as
/// zero_grad() leaves them.
std::vector<HeadScore> measured_sensitivity(Learner& learner, Index examples = 500);
inline constexpr const char* removal_cost_in_words =
    "the mean rise of an unseen example's loss when only this head is switched off";
std::vector<HeadScore> measured_removal_cost(Learner& learner, Index examples = 256);

struct HeadSwap;
class Swapper;

/// Removes heads from model and optimizer after the update of a step, as many as the schedule of
/// its recipe says; the recipe's chooser decides which ones. With Regrowth it also swaps live heads
/// for removed ones: those that the chooser would remove next for those that gain most
/// (gains_of_stashed(), gains_of_fresh()), among the heads that were removed in an earlier step. A
/// budget over kinds or attentions holds for swaps as well, which then are made within each.
/// Progress, scores and removed heads are stored in the checkpoint, so that a resumed run changes
/// the same heads at the same steps. Until the schedule ends, no step counts as the best (see
/// StepReport::settled).
class Pruner : public StepPart, public Stateful {
 public:
  /// Learner and optimizer must outlive it, and so must the part that records the scores of
  /// Rescoring::running and of the metrics running_sensitivity and movement; it comes before the
  /// pruner in a step, as LearnedGates of the recipe come after it. Throws UsageError for an
  /// invalid recipe, for a metric that will have no scores of this model, and if so many heads
  /// cannot be removed.
  Pruner(Learner& learner, Optimizer& optimizer, const PruningRecipe& recipe,
         std::uint64_t seed = 1, const TrainingScores* training = nullptr);
  /// Another function measures the model and chooses at least `remove` live heads, in place of the
  /// recipe's chooser. It is responsible for the budget. Throws UsageError for a recipe with
  /// compensation or regrowth, which need a learner.
  Pruner(Optimizer& optimizer, const PruningRecipe& recipe,
         std::function<HeadChoice(Index remove)> choose);
  ~Pruner() override;

  /// Chooses all heads now, after this step, unless heads were chosen before. With Rescoring::once
  /// after_update() calls it at the first step of the schedule. Throws UsageError unless all heads
  /// to remove are in the order and alive.
  void choose(Index step);
  bool chosen() const { return !heads_.empty(); }
  /// All heads that were alive when the first heads were chosen, in the order of HeadId; empty
  /// before.
  const std::vector<HeadHistory>& heads() const { return heads_; }
  /// All removals and measurements so far.
  const std::vector<PruningEvent>& timeline() const { return timeline_; }
  const PruningRecipe& recipe() const { return recipe_; }
  /// All of this as a value. A page shows importance as a share of the largest, so scores are
  /// counted from the lowest one if that is negative. Empty if no heads were chosen.
  PruningHistory history() const;

  void after_update(StepReport& report) override;
  void save_state(StateWriter to) const override;
  /// A checkpoint of a run without a pruner is as one before the first event. Throws FileError if
  /// the saved run has removed heads by another recipe.
  void load_state(const StateReader& from) override;

 private:
  Pruner(Learner* learner, Optimizer& optimizer, const PruningRecipe& recipe, std::uint64_t seed,
         std::function<HeadChoice(Index remove)> choose);
  HeadChoice measured(Index remove, const TrainingScores* training) const;
  /// Measures the live heads, and gives the `count` that are to go first their turns.
  void set_turns(Index step, Index count);
  std::vector<HeadId> next(Index count) const;
  void remove_due(Index step);
  void swap_due(Index step);
  void change(const HeadSwap& swap, Index step);
  Index removals() const;
  PruningEvent& event(Index step);
  PruningEvent new_event(Index step) const;
  void check_saved(const std::string& where) const;
  HeadHistory& entry(const HeadId& head);
  /// The heads whose last removal was before this step, and that are not back.
  std::vector<HeadId> gone(Index before = std::numeric_limits<Index>::max()) const;

  Learner* learner_ = nullptr;  // none: only `measure_` measures
  Optimizer* optimizer_;
  std::uint64_t seed_;
  PruningRecipe recipe_;
  std::function<HeadChoice(Index remove)> measure_;
  std::vector<HeadHistory> heads_;
  std::vector<PruningEvent> timeline_;
  std::unique_ptr<Swapper> swapper_;  // with Regrowth
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
