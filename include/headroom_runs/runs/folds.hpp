// Folds: cross-validation, in which every example is in the test set of one run.
#pragma once

#include <string>

#include "headroom/data/task.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// One part of the examples for training and test, divided into so many parts.
struct Fold {
  Index part = 1, parts = 1;  // the first part is 1; of 1 part: the task's own sets
  bool operator==(const Fold&) const = default;
  std::string text() const;  // "2/5"
};

/// The fold of "2/5". Throws UsageError, naming `where`, unless the text is K/N with
/// 1 <= K <= N and N >= 2.
Fold fold_from(const std::string& text, const std::string& where);

/// Divides the examples for training and test anew: this part of them is the test set, all others
/// are for training. The validation set stays, so that nothing is chosen on what is tested. Over
/// all parts every example is tested once. Examples with the same source or an answer in common are
/// in the same part; parts are as large as that allows, and depend on the examples alone, not on
/// their order. Throws UsageError for a text, which has no test set, and for fewer different
/// examples than parts.
Task hold_out(Task task, const Fold& fold);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
