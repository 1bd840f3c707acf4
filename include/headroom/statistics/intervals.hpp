// Means and rates with their 95 % intervals: how sure a claim about random draws is.
#pragma once

#include <span>
#include <string>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// An estimate and the borders of its 95 % interval.
struct Interval {
  double value = 0, low = 0, high = 0;

  template <class Visit>
  static void fields(Visit visit) {
    visit("value", &Interval::value);
    visit("low", &Interval::low);
    visit("high", &Interval::high);
  }
  /// "0.252 [0.238, 0.266]"
  std::string text() const;
};

/// The sum of values divided by their number; NaN without values.
double mean_of(std::span<const double> values);

/// Mean of independent values with Student's t-interval, mean +- t s / sqrt(n). A single value has
/// an interval of no width. Throws UsageError without values.
Interval mean_interval(std::span<const double> values);

/// The mean of positive numbers on a logarithmic scale, exp(mean of log x), with the interval of
/// the logarithms. Throws UsageError without values.
Interval geometric_mean(std::span<const double> values);

/// Share of successes with Wilson's score interval (Wilson 1927). Throws UsageError unless
/// 0 <= successes <= draws and draws >= 1.
Interval rate_interval(Index successes, Index draws);

/// The median of independent values with the interval between the k-th value from below and the
/// k-th from above, k as large as a coverage of 95 % allows. The interval holds for any
/// distribution. Of fewer than 6 values it is their whole range, which covers less. Throws
/// UsageError without values.
Interval median_interval(std::span<const double> values);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
