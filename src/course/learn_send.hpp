// An answer with its verdict, for a report to the authors of the course.
#pragma once

#include <filesystem>
#include <string>

#include "course/learn_judge.hpp"
#include "course/learn_workspace.hpp"
#include "headroom/base/terminal.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The offer to report an answer that is wrong in a way that the checks do not name; "" for others.
std::string offer_text(const Exercise& exercise, const Verdict& verdict,
                       const TerminalStyle& style);

/// Checks the learner's answer, and writes it with the verdict and the versions of program and
/// compiler to workspace/send/05_4.md. Returns the path. Nothing is sent.
std::filesystem::path write_for_sending(const Course& course, const Workspace& workspace,
                                        const Exercise& exercise);

/// The text without absolute paths (of which the last part stays) and without the name of the user.
std::string without_names(std::string text, const std::string& user);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
