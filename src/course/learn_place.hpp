// Places in the learner's file: where something is still to be written, and what a diagnosis is
// about.
#pragma once

#include <filesystem>
#include <string>

#include "course/learn_judge.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The line, counted from 1, of the first `chapter::todo` of an answer's code; else that of its
/// first function; else 1.
Index first_gap(const std::string& code);

/// The line of an answer that a verdict is about: the compiler's first error, the line that was
/// stopped by a crash, an index out of range or another exception, else that of the function that
/// the checks call. `folder` has the answer's library, as in judge().
Index line_of(const Course& course, const Exercise& exercise, const CoursePrecision& precision,
              const Verdict& verdict, const std::filesystem::path& source,
              const std::filesystem::path& folder);

/// "workspace/05_one_head/4_attention.cpp:12": a place as editors and terminals read it, from the
/// current folder if that is shorter.
std::string place_text(const std::filesystem::path& file, Index line);

/// The path as seen from the current folder, if that is shorter.
std::string short_path(const std::filesystem::path& path);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
