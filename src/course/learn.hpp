// The command `learn`.
#pragma once

#include "cli/frame/command.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Adds `learn` and its own commands to the program.
Command add_course(CLI::App& program);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
