// A check of what a user gave, in one line.
#pragma once

#include <string>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Throws UsageError with this text unless it is right.
inline void require(bool right, const std::string& text) {
  if (!right) throw UsageError(text);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
