// Runs another program as a child process: arguments in, exit code and both outputs out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The result of a finished program.
struct ChildResult {
  static constexpr int not_found = 127;  // no such program; the code that shells use
  int code = 0;                          // exit code; 128 + signal when it was killed
  std::string out, err;
};

/// Runs words[0] (looked for in PATH unless it has a slash) with the other words, `input` on its
/// standard input. Throws FileError when it cannot be run.
ChildResult run_child(const std::vector<std::string>& words, std::string_view input = "");

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
