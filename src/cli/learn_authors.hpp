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

/// Runs the checks on every answer of these exercises (empty: of all), several at a time, and
/// prints a line for each. The solution must pass without a warning, the skeleton must stop in the
/// first stage as not implemented, and the checks must say of each wrong answer what its master
/// file promises. Returns whether that is so.
bool try_answers(const Course& course, const std::vector<std::string>& ids,
                 const CoursePrecision& precision);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
