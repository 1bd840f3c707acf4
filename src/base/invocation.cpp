// The name by which the user called this program.
#include "headroom/base/invocation.hpp"

#include <cstdlib>

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
std::string launcher() {
  const char* const name = std::getenv("HEADROOM_LAUNCHER");
  return name == nullptr ? "" : name;
}
}  // namespace

bool launched() { return !launcher().empty(); }

std::string invocation() {
  if (launched()) return launcher();
  return is_double ? "headroom-f64" : "headroom";
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
