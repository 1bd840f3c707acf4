// Rewards at the end of a part of the course that keep something in the workspace.
#include "course/learn_rewards.hpp"

#include <fmt/format.h>

#include "headroom/base/invocation.hpp"
#include "headroom/base/terminal.hpp"
#include "headroom_lab/report/half.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::filesystem::path board_of(const Workspace& workspace) {
  return workspace.folder() / "board.json";
}

void show_board(const Workspace& workspace) {
  const HalfBoard board = read_half_board(board_of(workspace));
  if (board.answers.empty()) {
    fmt::print("There is no answer yet. Give one: {} learn run half_of_the_heads\n", invocation());
    return;
  }
  fmt::print("{}", half_board_text(board, TerminalStyle::of(stdout)));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
