// For authors of exercises: writes and tries the answers of master files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/learn_course.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Writes FILE_solution.cpp, FILE_skeleton.cpp and a file for each wrong answer. Returns the paths.
std::vector<std::filesystem::path> write_answers(const Exercise& exercise,
                                                 const std::filesystem::path& folder);

/// Which answers to try.
struct TrialOptions {
  std::vector<std::string> ids;  // empty: of all exercises
  bool solutions_only = false;
  Index part = 0, parts = 1;  // exercises number part, part + parts, ...
};

/// Runs the checks on answers, several at a time, and prints a line for each. The solution must
/// pass without a warning, the skeleton must stop in the first stage as not implemented, and the
/// checks must say of each wrong answer what its master file promises, and no more than one thing
/// that it looks like. Returns whether that is so.
bool try_answers(const Course& course, const CoursePrecision& precision,
                 const TrialOptions& options);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
