// PruningParts: the parts of a training run that follow a recipe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headroom/surgery/drop_head.hpp"
#include "headroom_measure/pruning/learned_gates.hpp"
#include "headroom_measure/pruning/pruner.hpp"
#include "headroom_measure/pruning/training_scores.hpp"
#include "headroom_runs/runs/training_run.hpp"

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

  /// Returns the pruning history so far, empty before the first heads were chosen.
  PruningHistory history() const;

 private:
  TrainingScores scores_;
  std::optional<Pruner> pruner_;
  std::optional<LearnedGates> gates_;
  std::optional<DropHead> drop_head_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
