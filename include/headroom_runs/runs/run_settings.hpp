// RunSettings: everything that determines a run of `headroom train`, as config.json keeps it.
#pragma once

#include <string>
#include <vector>

#include "headroom/base/head_id.hpp"
#include "headroom_measure/pruning/pruning_recipe.hpp"
#include "headroom_runs/runs/training_settings.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The moments of a run that begins with the weights of another one: zero, or those of that run.
enum class Moments { fresh, keep };

/// The place of a run among others: the run it begins with, its last step, the parts it leaves out.
struct BranchSettings {
  Index until = 0;     // the step after which the run ends; 0: the last one
  std::string branch;  // folder of a run with the same settings, at whose step it begins
  std::string from;    // folder or checkpoint of a model, with whose weights it begins at step 0
  Moments moments = Moments::fresh;  // with `from`
  std::vector<HeadId> without = {};  // removed before the first step
  bool test = true;                  // measures the test set
  bool page = true;                  // writes the report
  bool measure_cut = false;          // measures right after the last removal of heads, too
};

/// Two runs with equal settings give the same model, to the bit.
struct RunSettings {
  TrainingSettings training = {};
  PruningRecipe pruning = {};
  BranchSettings branch = {};

  /// {"task": {...}, "model": {...}, "training": {...}, "pruning": {...}}, with the paths of
  /// all_settings().
  Record to_record() const;
  /// Throws FileError naming `origin` and the key that is missing, of another type or out of range,
  /// and for a run that another program than `train` made, which has no "pruning".
  static RunSettings from_record(const Record& record, const std::string& origin);
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
