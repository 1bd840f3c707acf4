// The learner's functions as a library that takes the place of headroom's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "course/learn_workspace.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The folder of libmine.so and libmine_f64.so. Programs of the course that find it in
/// LD_LIBRARY_PATH run on the functions in it.
std::filesystem::path folder_of_mine(const Workspace& workspace);

/// Adds an answer that has passed: keeps its object in double, compiles it in float, and links both
/// libraries anew. Throws Error if that fails.
void add_to_mine(const Course& course, const Workspace& workspace, const Exercise& exercise);

/// Measures how much longer a training step takes with this answer, which was added, and keeps it
/// in the workspace's state. Takes a second, or several with a slow answer.
void measure_mine(const Course& course, Workspace& workspace, const Exercise& exercise);

/// A function that the learner has written.
struct OwnFunction {
  std::string name;                 // "FusedHeads::project"
  std::optional<double> step_time;  // as in ExerciseState
};
/// The functions in libmine_f64.so: those of the library that it replaces, and those of exercises
/// whose function is not in the library.
std::vector<OwnFunction> functions_of_mine(const Course& course, const Workspace& workspace);

/// Whether a command that runs on the learner's functions says at its end which of them it called.
/// Its first process does so if HEADROOM_CALLS names a file that does not exist;
/// chapters/common/own.cpp.
#if defined(__x86_64__)
inline constexpr bool calls_are_noted = true;
#else
inline constexpr bool calls_are_noted = false;
#endif

/// Lines about exercises whose file has changed since it passed, or that passed without their
/// function; "" if there are none.
std::string changed_text(const Course& course, const Workspace& workspace);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
