// The mistakes of an exercise's master file: what they give is computed once and kept, so that the
// checks can name the mistake of an answer that gives the same.
#pragma once

#include <filesystem>
#include <stop_token>

#include "course/learn_judge.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The file with what the mistakes give; empty if it is missing or older than the exercise.
std::filesystem::path known_mistakes(const Course& course, const Exercise& exercise,
                                     const CoursePrecision& precision);

/// Makes that file, unless it is there: compiles every mistake and runs the checks on it, on so
/// many processors. This takes about half a second for each. Another process that does the same is
/// waited for. Gives up, without a file, when it is asked to stop. Throws FileError, and Error if
/// the checks cannot be built.
void learn_mistakes(const Course& course, const Exercise& exercise,
                    const CoursePrecision& precision, unsigned processors,
                    const std::stop_token& stop = {});

/// Whether an answer failed in a comparison and could not be compared with the mistakes.
bool mistakes_missing(const Course& course, const Exercise& exercise,
                      const CoursePrecision& precision, const Verdict& verdict);

/// The number of mistakes of an exercise.
Index mistake_count(const Exercise& exercise);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
