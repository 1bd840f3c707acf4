// The interactive runner of the course.
#pragma once

#include "course/learn_editor.hpp"
#include "course/learn_judge.hpp"
#include "course/learn_workspace.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Checks the learner's file of an exercise now and whenever it is saved, and obeys keys, until q
/// or Ctrl-C. Needs a terminal. Opens the file in an editor, or says where to begin. Returns the
/// exit code.
int watch(const Course& course, Workspace& workspace, const Exercise& first,
          const EditorOptions& editor);

/// Checks the learner's file once, and prints and returns the verdict. If it passed, the caller
/// keeps it for the learner's functions (keep_answer()).
Verdict check_once(const Course& course, Workspace& workspace, const Exercise& exercise);

/// Learns the mistakes of the exercise, and says which of them gives what the answer gave in the
/// check before. Returns the verdict with that.
Verdict compare_with_mistakes(const Course& course, const Workspace& workspace,
                              const Exercise& exercise);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
