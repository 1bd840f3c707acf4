// How this program was started: by which name, and with which functions in place of its own.
#pragma once

#include <string>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The word before a command in hints and examples, so that they can be typed as they are
/// printed: the launcher's name ("./headroom", from the environment variable HEADROOM_LAUNCHER)
/// when it started the program, else the program's own, "headroom" or "headroom-f64".
std::string invocation();

/// Returns whether the launcher started the program. The launcher has some additional commands.
bool launched();

/// The functions of the course's learner that this program runs on, "softmax, attention", as
/// `learn run` gives them in the environment variable HEADROOM_OWN_FUNCTIONS; "" otherwise.
std::string own_functions();

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
