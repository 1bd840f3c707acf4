// ModelCut: removes heads from a trained model that is not trained on.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headroom_measure/importance/budget.hpp"
#include "headroom_measure/importance/head_game.hpp"
#include "headroom_measure/importance/head_scores.hpp"
#include "headroom_measure/pruning/compensation.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// How heads are chosen for a cut.
struct CutOptions {
  std::string chooser = "random_masks";  // a name of head_choosers() or head_metrics()
  Budget budget = {};
  Compensation compensation = Compensation::none;
  Index examples = 500;          // of ExampleSet::importance, at most
  std::uint64_t seed = 1;        // of draws
  RecordedScores recorded = {};  // of metrics that read what training recorded
};

/// N_eff = (sum s)^2 / sum s^2, the number of heads that would have the same participation ratio if
/// all of them had equal scores: N for equal scores, 1 if a single one is above 0. Negative scores,
/// of heads that do harm, count as 0. Throws UsageError if no score is above 0.
double effective_heads(std::span<const HeadScore> scores);

/// Chooses heads on ExampleSet::importance and tells what a model without them loses on any set.
/// Importance is measured once, with all heads.
class ModelCut {
 public:
  /// The learner must outlive it, and its heads must not change otherwise. Throws UsageError for an
  /// unknown chooser, and for one that cannot work on this model.
  ModelCut(Learner& learner, const CutOptions& options);

  /// The number of heads that the budget lets go.
  Index most() const;
  /// The scores behind the choice: larger is more important. Empty unless the chooser is a metric.
  const std::vector<HeadScore>& importance() const { return importance_; }
  /// `remove` heads, the first to go first. Sets of different sizes need not contain each other.
  /// Throws UsageError if the budget does not allow so many.
  std::vector<HeadId> choose(Index remove);
  /// Calls `work` while these heads are removed, and compensated for as the options say. Afterwards
  /// the model is as before, to the bit.
  void without(std::span<const HeadId> removed, const std::function<void()>& work);
  /// The loss of each example of a set (the sum over its labels), without() these heads.
  std::vector<double> losses(ExampleSet set, std::span<const HeadId> removed);
  /// The largest choice that raises the mean of losses(ExampleSet::selection) by at most
  /// `increase`, tried from most() heads down to one; empty if not even one head can go.
  std::vector<HeadId> most_within(double increase);
  /// Removes the heads, and compensates for them.
  void apply(std::span<const HeadId> removed);

 private:
  void compensate_for(std::span<const HeadId> removed);

  Learner* learner_;
  CutOptions options_;
  std::vector<HeadScore> importance_;
  std::optional<HeadGame> game_;   // of a chooser that is not a metric
  std::map<HeadId, Array> means_;  // with Compensation::mean
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
