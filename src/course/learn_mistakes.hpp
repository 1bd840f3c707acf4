// The mistakes of an exercise's master file. The wrong results of each are computed once and kept,
// so that the checks can name the mistake of an answer that gives the same.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "course/learn_judge.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The paths of the files with the wrong results of the mistakes, a line for each; "" until all are
/// known.
std::string known_mistakes(const Course& course, const Exercise& exercise,
                           const CoursePrecision& precision);

/// The mistakes whose file is missing or older than the checks.
std::vector<const CourseAnswer*> unknown_mistakes(const Course& course, const Exercise& exercise,
                                                  const CoursePrecision& precision);

/// Whether an answer failed and could not be compared with all mistakes.
bool is_to_compare(const Course& course, const Exercise& exercise, const CoursePrecision& precision,
                   const Verdict& verdict);

/// Compiles a mistake in a folder, and makes its file if compile_and_compare() has passed, whose
/// verdict it returns. Makes none if `stopped` says that the programs that it ran were.
Verdict observe_mistake(const Course& course, const Exercise& exercise,
                        const CoursePrecision& precision, const CourseAnswer& mistake,
                        const std::filesystem::path& folder,
                        const std::function<bool()>& stopped = {});

/// Makes the file of a mistake unless another process has, in about half a second.
void learn_mistake(const Course& course, const Exercise& exercise, const CoursePrecision& precision,
                   const CourseAnswer& mistake, const std::function<bool()>& stopped = {});

/// Makes the missing files on all processors, and says how many of them are done. Each is kept, so
/// a process that is stopped goes on from there the next time.
void learn_mistakes(const Course& course, const Exercise& exercise,
                    const CoursePrecision& precision,
                    const std::function<void(Index done, Index all)>& progress = {});

/// Calls work(0) to work(count - 1) on all processors.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
