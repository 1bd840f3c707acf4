// Runs commands on the learner's functions.
#pragma once

#include <string>
#include <vector>

#include "course/learn_workspace.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Replaces this process by the program of the course, or an experiment (words[0]), on the
/// learner's functions. First prints which functions these are.
[[noreturn]] void run_with_mine(const Course& course, const Workspace& workspace,
                                const std::vector<std::string>& words);

/// Runs the commands of chapters/NN_*/milestone.txt, one per line, on the learner's functions.
/// Lines that begin with "#" are printed. Returns the exit code of the first command that fails,
/// else 0. Throws UsageError for a chapter without milestone.
int run_milestone(const Course& course, const Workspace& workspace, const std::string& chapter);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
