// The questions of a chapter, which ask whether it was understood.
#pragma once

#include <string>
#include <vector>

#include "course/learn_ask.hpp"
#include "course/learn_workspace.hpp"
#include "headroom/base/terminal.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The folder of a chapter, by "05", "5" or its whole name. Throws UsageError if there is none.
std::filesystem::path chapter_folder(const Course& course, const std::string& name);

/// Whether all exercises of a chapter have passed, and it has a question without an answer.
bool questions_are_due(const Course& course, const Workspace& workspace, const Exercise& exercise);

/// The questions of a chapter as a text, without the answers.
std::string questions_text(const std::filesystem::path& chapter, const TerminalStyle& style);

/// Asks all questions of a chapter if this is a terminal and it has some; else prints their text.
void ask_or_print_questions(Workspace& workspace, const std::filesystem::path& chapter,
                            const TerminalStyle& style);

/// Asks the questions of a chapter, those without an answer or `all`, in a terminal whose keys come
/// one by one (KeyMode). Shows the sentence of the option that is chosen, and of the right one;
/// keeps the answer in the workspace's state.
void ask_questions(Workspace& workspace, const std::filesystem::path& chapter, bool all,
                   const TerminalStyle& style);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
