// Checks that several optimizers make of their options.
#pragma once

#include <fmt/format.h>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Throws UsageError unless 0 <= value < 1.
inline void check_fraction(const char* optimizer, const char* option, double value) {
  if (!(value >= 0 && value < 1)) {
    throw UsageError(fmt::format("{}: {} {} is not in [0, 1)", optimizer, option, value));
  }
}

/// Throws UsageError for a negative value or NaN.
inline void check_not_negative(const char* optimizer, const char* option, double value) {
  if (!(value >= 0)) {
    throw UsageError(fmt::format("{}: {} {} is negative", optimizer, option, value));
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
