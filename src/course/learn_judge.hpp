// Compiles an answer and runs the checks of its exercise on it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "course/learn_course.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The result of the checks.
struct Verdict {
  /// not_defined: the answer lacks the function that the checks are to call.
  enum class Kind { passed, not_implemented, failed, crashed, does_not_compile, not_defined };
  Kind kind = Kind::passed;
  std::vector<std::string> passed;  // stages, in their order
  std::string stage;                // the one that did not pass
  std::string message;              // "" if all passed
  std::string printed;              // by the answer; its beginning
  std::string warnings;             // of the compiler
  // The calls of the answer that were open when it was stopped, from the innermost: places in its
  // library.
  std::vector<std::string> calls;
};

/// Compiles `source` into lib<exercise>.so in `folder`; the object file stays there. Returns the
/// first error with the learner's line, "" if it compiles; `warnings` gets all other output.
std::string compile_answer(const Course& course, const Exercise& exercise,
                           const CoursePrecision& precision, const std::filesystem::path& source,
                           const std::filesystem::path& folder, std::string& warnings);

/// Compiles an answer, builds the checks, and compares the answer's functions with the solution's.
/// The verdict is `passed`, without stages, if the checks can run.
Verdict compile_and_compare(const Course& course, const Exercise& exercise,
                            const CoursePrecision& precision, const std::filesystem::path& source,
                            const std::filesystem::path& folder);

/// Runs the checks on the answer that compile_and_compare() has put into a folder: in a separate
/// process with a time limit, so that no answer can stop or crash the caller. With a file
/// `observed`, the checks add the wrong numbers to it that they find. Otherwise they compare them
/// with those of the exercise's mistakes, if these are known (course/learn_mistakes.hpp).
Verdict run_checks(const Course& course, const Exercise& exercise, const CoursePrecision& precision,
                   const std::filesystem::path& folder, const std::filesystem::path& observed = {});

/// Both: the verdict on an answer.
Verdict judge(const Course& course, const Exercise& exercise, const CoursePrecision& precision,
              const std::filesystem::path& source, const std::filesystem::path& folder);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
