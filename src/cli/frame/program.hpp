// The program as a function.
#pragma once

#include "cli/frame/command.hpp"
#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Reads the command line, runs one of the commands, turns exceptions into one line on stderr. Exit
/// codes: 0 done, 2 usage, 3 numeric, 4 data, 5 file; 1 is a fault of the program itself.
int run_program(const AddCommands& commands, int argc, char* const* argv);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
