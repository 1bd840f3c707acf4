// The texts that the runner of the course shows.
#pragma once

#include <string>

#include "course/learn_judge.hpp"
#include "course/learn_workspace.hpp"
#include "headroom/base/terminal.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The stages that passed, each with a line, and the message of the one that did not, after the
/// `place` in the learner's file that it is about ("1_scale.cpp:12"), if it is known.
std::string verdict_text(const Exercise& exercise, const Verdict& verdict,
                         const TerminalStyle& style, const std::string& place = "");
/// Title, minutes, difficulty, the learner's file and the chapter.
std::string card_text(const Course& course, const Workspace& workspace, const Exercise& exercise,
                      const TerminalStyle& style);
/// The exercises by chapter, with what is done.
std::string list_text(const Course& course, Workspace& workspace, const TerminalStyle& style);
/// The next hint, and the number that remain. Counts it in the workspace's state.
std::string hint_text(Workspace& workspace, const Exercise& exercise, const TerminalStyle& style);
/// A text of a master file, wrapped: its lines are joined, but for those that begin with a space.
std::string prose_text(const std::string& text, Index columns, Index margin = 0);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
