// Runs commands on the learner's functions.
#pragma once

#include <string>
#include <vector>

#include "course/learn_workspace.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Runs an experiment (words[0]) on the learner's functions, and keeps what the learner predicted
/// and what it measured; with a word --all it asks for nothing. Returns its exit code. Any other
/// command replaces this process by the program of the course. First prints which functions are the
/// learner's.
int run_with_mine(const Course& course, const Workspace& workspace,
                  const std::vector<std::string>& words);

/// Runs the commands of chapters/NN_*/milestone.txt, one per line, on the learner's functions.
/// Lines that begin with "#" are printed. Returns the exit code of the first command that fails,
/// else 0. Throws UsageError for a chapter without milestone.
int run_milestone(const Course& course, const Workspace& workspace, const std::string& chapter);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
