// The interactive runner of the course.
#pragma once

#include "course/learn_workspace.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Checks the learner's file of an exercise now and whenever it is saved, and obeys keys, until q
/// or Ctrl-C. Needs a terminal. Returns the exit code.
int watch(const Course& course, Workspace& workspace, const Exercise& first);

/// Checks the learner's file once and prints the verdict. Returns whether it passed; then
/// add_to_mine() adds it to the learner's functions.
bool check_once(const Course& course, Workspace& workspace, const Exercise& exercise);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
