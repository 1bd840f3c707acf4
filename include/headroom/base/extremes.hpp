// Extremes of measured numbers.
#pragma once

#include <cmath>
#include <span>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The larger of two numbers, and NaN when one is. std::max ignores NaN, so a NaN difference would
/// read as 0.
inline double larger(double a, double b) { return a > b || std::isnan(a) ? a : b; }
/// The smaller of two numbers, and NaN when one is.
inline double smaller(double a, double b) { return a < b || std::isnan(a) ? a : b; }

/// The largest and the smallest of at least one number, and NaN when one is.
inline double largest(std::span<const double> values) {
  double most = values.front();
  for (const double value : values) most = larger(most, value);
  return most;
}
inline double smallest(std::span<const double> values) {
  double least = values.front();
  for (const double value : values) least = smaller(least, value);
  return least;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
