// Rewards at the end of a part of the course that keep something in the workspace.
#pragma once

#include <filesystem>

#include "course/learn_workspace.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The answers to "which half of the heads can go?", board.json in the workspace. The experiment
/// half_of_the_heads adds to the file that the environment variable HEADROOM_BOARD names.
std::filesystem::path board_of(const Workspace& workspace);

/// Prints the board. Throws DataError for a broken one.
void show_board(const Workspace& workspace);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
