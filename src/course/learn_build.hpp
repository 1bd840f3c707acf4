// Builds what the checks of answers need: solutions, checks, and targets of the build tool.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "course/learn_course.hpp"
#include "headroom/io/file_lock.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The last write of a file; the earliest time if it is missing.
std::filesystem::file_time_type time_of(const std::filesystem::path& file);

/// Whether a program or library is there and whole: the linker makes it executable at the end.
bool is_linked(const std::filesystem::path& file);

/// The lock, once no other process holds it.
FileLock waited_lock(const std::filesystem::path& file);

/// The shared libraries of the course that are built: libheadroom_f64.so, and
/// libheadroom_measure_f64.so, which the build goes on to build while the learner begins.
std::vector<std::filesystem::path> shared_libraries(const Course& course,
                                                    const CoursePrecision& precision);

/// Returns when libheadroom_measure_f64.so is there. While a build goes on, says so and
/// waits for it. Throws UsageError if there is none.
void wait_for_measure_library(const Course& course, const CoursePrecision& precision);

/// Builds the solution and the checks of an exercise, if they are missing or older than their
/// sources, without the build tool in double, which may be at work on the rest of the course.
/// Throws Error with the first error of the compiler.
void build_checks(const Course& course, const Exercise& exercise, const CoursePrecision& precision);

/// Builds an experiment of examples/. Waits for another build only if it is missing, or older than
/// its source or the libraries.
void build_experiment(const Course& course, const std::string& name);

/// Builds a target of the course by the build tool, alone: after another build has ended. Throws
/// Error with the first error if that fails.
void build_target(const Course& course, const std::string& target);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
