// PruningParts: the parts of a training run that follow a recipe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headroom/heads/drop_head.hpp"
#include "headroom/heads/learned_gates.hpp"
#include "headroom/heads/pruner.hpp"
#include "headroom/heads/training_scores.hpp"
#include "headroom/train/training_run.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Adds the parts of a recipe to a run: TrainingScores under the name "scores", then a Pruner
/// ("pruning") or LearnedGates ("gates"), then DropHead. Random draws follow from the run's seed.
/// ```
/// TrainingRun run(settings, make_task(settings.task, settings.data));
/// PruningParts parts(run, {.chooser = "path", .remove = 12, .pace = Gradual{300, 700, 20}});
/// run.run();
/// ```
class PruningParts {
 public:
  /// The run must outlive the parts, and be without a folder yet. Throws UsageError for a recipe
  /// that this run cannot follow.
  PruningParts(TrainingRun& run, const PruningRecipe& recipe);
  PruningParts(const PruningParts&) = delete;
  PruningParts& operator=(const PruningParts&) = delete;

  /// The heads that were there when the first ones were chosen; empty before.
  std::vector<Pruner::Head> heads() const;
  std::vector<PruningEvent> timeline() const;
  /// See Pruner::describe().
  void describe(RunRecord& run, const std::string& model, Index steps) const;

 private:
  TrainingScores scores_;
  std::optional<Pruner> pruner_;
  std::optional<LearnedGates> gates_;
  std::optional<DropHead> drop_head_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
