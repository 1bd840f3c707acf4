// Small training runs that follow recipes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "headroom/io/atomic_file.hpp"
#include "headroom_runs/runs/pruning_parts.hpp"
#include "support/small_settings.hpp"
#include "support/temporary_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

constexpr Index recipe_steps = 12;

inline TrainingSettings recipe_settings() { return small_settings(recipe_steps, Real(0.1)); }

/// A run that follows a recipe.
struct RecipeRun {
  explicit RecipeRun(const PruningRecipe& recipe,
                     const TrainingSettings& settings = recipe_settings(),
                     const Task& task = small_task())
      : run(settings, task), parts(run, recipe) {}
  TrainingRun run;
  PruningParts parts;
};

inline const std::vector<Pace> paces{OneShot{.at = 4},
                                     Iterative{.from = 3, .rounds = 3, .recover = 2},
                                     Gradual{.from = 3, .to = 9, .every = 2}};

/// Recipes of all kinds, by a name.
inline std::map<std::string, PruningRecipe> recipes() {
  std::map<std::string, PruningRecipe> all;
  for (const Pace& pace : paces) {
    const PruningRecipe plain{
        .remove = 6, .examples = 20, .pace = pace, .budget = {.at_least_of_kind = 0}};
    for (const Rescoring rescoring : all_of<Rescoring>()) {
      PruningRecipe& recipe = all[name_of(pace) + ", " + name_of(rescoring)] = plain;
      recipe.rescoring = rescoring;
      if (rescoring == Rescoring::running) recipe.chooser = "running_sensitivity";
    }
    PruningRecipe& chosen = all[name_of(pace) + ", greedy"] = plain;
    chosen.chooser = "greedy";
    chosen.rescoring = Rescoring::each_event;
    PruningRecipe& compensated = all[name_of(pace) + ", compensated"] = plain;
    compensated.rescoring = Rescoring::each_event;
    compensated.compensation = Compensation::mean;
  }
  for (const GateMethodEntry& entry : gate_methods()) {
    PruningRecipe& recipe = all[entry.name + " gates"];
    recipe.chooser = entry.name == "subset" ? "sensitivity" : "";
    recipe.examples = 20;
    recipe.gates = GateOptions{.method = entry.name, .keep = 6, .begin = 3, .end = 9};
    recipe.drop_head = 0.2;
  }
  all["DropHead"].drop_head = 0.3;
  for (const RegrowWith with : all_of<RegrowWith>()) {
    for (const Pace& pace : paces) {
      PruningRecipe& recipe = all[name_of(pace) + ", regrowth, " + name_of(with)];
      recipe = {.remove = 6,
                .examples = 20,
                .pace = pace,
                .budget = {.at_least_of_kind = 0},
                .rescoring = Rescoring::each_event,
                .compensation = with == RegrowWith::stash ? Compensation::mean : Compensation::none,
                .regrowth = Regrowth{.every = 2, .share = 0.5, .until = 11, .with = with}};
    }
  }
  return all;
}

/// The checkpoint of a run as bytes.
inline std::string checkpoint_bytes(const RecipeRun& pruned, const TemporaryFolder& folder) {
  pruned.run.save(folder / "now");
  return read_file(folder / "now");
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
