// The learner's functions as a library that takes the place of headroom's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "course/learn_workspace.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The folder of libmine.so and libmine_f64.so. Programs of the course that find it in
/// LD_LIBRARY_PATH run on the functions in it.
std::filesystem::path folder_of_mine(const Workspace& workspace);

/// Keeps the code of an answer that has passed, as it was before the checks, for update_mine().
void keep_answer(const Workspace& workspace, const Exercise& exercise, const std::string& code);

/// The number of answers that were kept and are not compiled for programs yet: with optimisation,
/// in double and, once the library in float is built, in float.
Index waiting_answers(const Course& course, const Workspace& workspace);

/// Brings the learner's libraries up to date with the kept answers: compiles what is missing and
/// links both. `compiles` gets the number of answers to be compiled, if there are any. Returns
/// lines about answers that do not compile in a precision, or "". Throws Error if something else
/// fails. Several processes may call it.
std::string update_mine(const Course& course, const Workspace& workspace,
                        const std::function<void(Index answers)>& compiles = {});

/// Measures how much longer a training step takes with each answer that was kept since the last
/// measurement: a second, or several for a slow answer. Does nothing while the program is not
/// built.
void measure_mine(const Course& course, const Workspace& workspace);

/// A function that the learner has written.
struct OwnFunction {
  std::string name;  // "FusedHeads::project"
  /// How many times as long a training step takes with this answer alone as with the library's.
  std::optional<double> step_time;
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
