// The parts of a run that a recipe asks for.
#include "headroom/heads/pruning_parts.hpp"

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

std::vector<Pruner::Head> PruningParts::heads() const {
  if (gates_) return gates_->outcome();
  return pruner_ ? pruner_->heads() : std::vector<Pruner::Head>();
}

std::vector<PruningEvent> PruningParts::timeline() const {
  std::vector<PruningEvent> all;
  if (pruner_) all = pruner_->timeline();
  if (gates_) {
    for (const PruningEvent& event : gates_->timeline()) all.push_back(event);
  }
  return all;
}

void PruningParts::describe(RunRecord& run, const std::string& model, Index steps) const {
  if (!gates_) return pruner_ ? pruner_->describe(run, model, steps) : void();
  gates_->describe(run, model, steps);
  if (!run.heads.empty()) describe_timeline(run, timeline(), steps);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
