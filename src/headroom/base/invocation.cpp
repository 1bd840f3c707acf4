// Environment variables of the program that started this one.
#include "headroom/base/invocation.hpp"

#include <cstdlib>

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string launcher() { return variable("HEADROOM_LAUNCHER"); }
}  // namespace

bool launched() { return !launcher().empty(); }

std::string own_functions() { return variable("HEADROOM_OWN_FUNCTIONS"); }

std::string invocation() {
  if (launched()) return launcher();
  return is_double ? "headroom-f64" : "headroom";
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
