// The parts of a run that a recipe asks for.
#include "headroom_runs/runs/pruning_parts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

PruningParts::PruningParts(TrainingRun& run, const PruningRecipe& recipe) : scores_(run.model()) {
  recipe.check();
  const std::uint64_t seed = run.settings().data.seed;
  run.add("scores", scores_);  // first: frozen gates drop the gradients that it reads
  if (recipe.remove > 0 || (recipe.gates && !recipe.chooser.empty())) {
    pruner_.emplace(run.learner(), run.optimizer(), recipe, seed, &scores_);
    run.add("pruning", *pruner_);
  }
  if (recipe.gates) {
    gates_.emplace(run.optimizer(), *recipe.gates, seed);
    run.add("gates", *gates_);
  }
  if (recipe.drop_head > 0) {
    drop_head_.emplace(recipe.drop_head, run.settings().steps);
    run.add("drop_head", *drop_head_);
  }
}

PruningHistory PruningParts::history() const {
  if (!gates_) return pruner_ ? pruner_->history() : PruningHistory();
  PruningHistory all = gates_->history();
  if (pruner_) {
    all.timeline.insert(all.timeline.begin(), pruner_->timeline().begin(),
                        pruner_->timeline().end());
  }
  return all;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
