// The questions of a chapter, which ask whether it was understood.
#pragma once

#include <string>
#include <vector>

#include "course/learn_ask.hpp"
#include "course/learn_workspace.hpp"
#include "headroom/base/terminal.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The first exercise of a chapter: "05", "5", "sums:01" or its whole name. Throws UsageError if
/// there is none.
const Exercise& chapter_exercise(const Course& course, const std::string& name);

/// The questions of the chapter of an exercise.
std::vector<ChapterQuestion> questions_of(const Course& course, const Exercise& exercise);

/// Whether all exercises of a chapter have passed, and it has a question without an answer.
bool questions_are_due(const Course& course, const Workspace& workspace, const Exercise& exercise);

/// The questions of the chapter of an exercise as a text, without the answers.
std::string questions_text(const Course& course, const Exercise& exercise,
                           const TerminalStyle& style);

/// Asks the questions of the chapter of an exercise, those without an answer or `all`, in a
/// terminal whose keys come one by one (KeyMode). Shows the sentence of the option that is chosen,
/// and of the right one; keeps the answer in the workspace's state.
void ask_questions(const Course& course, Workspace& workspace, const Exercise& exercise, bool all,
                   const TerminalStyle& style);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
