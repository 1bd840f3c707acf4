// StudyPlan: the training runs of a declaration, each once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headroom_lab/study/declaration.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The shared beginning of runs with the same seed.
struct TrunkPlan {
  std::string key;
  Index seed = 0, fold = 0;
  GivenSettings options;  // of base and of the trunk's factors
};

/// A run, identified by its settings. `key`, 16 hexadecimal digits, is the hash of their canonical
/// form, so equal settings have the same key in all conditions and studies. The removed heads of
/// some controls depend on measurements and other runs; the key contains the keys of these.
struct StudyCell {
  std::string key;
  std::string trunk;  // key of the trunk that it begins with, or whose model has the same heads
  Index seed = 0, fold = 0;
  std::optional<StudyControl> control;
  Index draw = 0;         // number of the draw of random heads
  Index remove = 0;       // heads that a control removes
  std::string reference;  // key of the cell whose heads a control copies; empty: none
  GivenSettings options;  // without those that depend on other runs
  /// Returns whether the run begins with the trunk's checkpoint: not if heads are missing from the
  /// start.
  bool branches() const;
  /// The settings that the options make; of a control with the number of heads that it removes, but
  /// not with which ones. Throws UsageError as settings_of().
  RunSettings settings() const;
};

/// A combination of levels: one of each factor with several values.
struct StudyCondition {
  GivenSettings levels;
  std::string text() const;  // "prune 12, steps 1450"; "" if there is one condition only
};

/// A cell in its role: one cell may belong to several conditions.
struct StudyEntry {
  std::size_t condition = 0;
  std::string arm;  // of the declaration, or the name of a control
  std::string cell;
};

/// Everything that a declaration asks for, in the order in which it can be done.
struct StudyPlan {
  std::vector<TrunkPlan> trunks;
  std::vector<StudyCell> cells;  // a cell comes after the cells that it refers to
  std::vector<StudyCondition> conditions;
  std::vector<std::string> arms;  // of the declaration, then controls
  std::vector<StudyEntry> entries;
};

/// All runs of a declaration: for every condition, arm and control, seed and fold, and for random
/// heads every draw. Throws UsageError if rules leave no combination, and for settings that
/// contradict each other.
StudyPlan plan_of(const StudyDeclaration& declaration);

/// Returns whether all rules allow an arm or a control (`role`: "arm" or "control") of this name
/// under a combination of levels. A rule whose single values all match allows only the levels in
/// its lists.
bool rules_allow(const std::vector<GivenSettings>& rules, const GivenSettings& combination,
                 const std::string& role, const std::string& name);

/// The number of steps of a cell after its trunk, or from the start if it has no trunk.
Index steps_of(const StudyCell& cell, const StudyDeclaration& declaration);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
