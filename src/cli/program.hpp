// The program as a function.
#pragma once

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Reads the command line, runs the command, turns exceptions into one line on stderr.
/// Exit codes: 0 done, 2 usage, 3 numeric, 4 data, 5 file; 1 is a fault of the program itself.
int run_program(int argc, char* const* argv);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
