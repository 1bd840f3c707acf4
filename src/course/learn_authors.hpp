// For authors of exercises: writes and tries the answers of master files.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "course/learn_course.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Writes FILE_solution.cpp, FILE_skeleton.cpp and a file for each wrong answer. Returns the paths.
std::vector<std::filesystem::path> write_answers(const Exercise& exercise,
                                                 const std::filesystem::path& folder);

/// Which answers to try.
struct TrialOptions {
  std::vector<std::string> ids;  // empty: of all exercises
  bool solutions_only = false;
  bool missing_only = false;  // only the answers of answers_without()
  Index part = 0, parts = 1;  // exercises number part, part + parts, ...
};

/// Answers that lack a required function: an empty file, and for each of `functions` (mangled
/// names) the solution with another name for it, with one more parameter and, unless it is a member
/// of a class, without its innermost namespace. Throws Error if the solution does not define it.
std::vector<CourseAnswer> answers_without(const Exercise& exercise,
                                          const std::set<std::string>& functions);

/// Runs the checks on answers, several at a time, and prints a line for each. The solution must
/// pass without a warning, the skeleton must stop in the first stage as not implemented, and the
/// checks must say of each wrong answer what its master file promises, and no more than one thing
/// that it looks like. Those of answers_without() must be refused before the first stage. Returns
/// whether that is so.
bool try_answers(const Course& course, const CoursePrecision& precision,
                 const TrialOptions& options);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
