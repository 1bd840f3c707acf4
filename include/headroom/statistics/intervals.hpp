// Means and rates with their 95 % intervals: how sure a claim about random draws is.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The number z for which a normal number is between -z and z with the probability 0.95.
inline constexpr double normal_point = 1.959963984540054;

/// An estimate and the borders of its 95 % interval.
struct Interval {
  double value = 0, low = 0, high = 0;
  /// `of` names the estimate: "mean", "mean of shares", "geometric mean" or "median". `draws` are
  /// the independent values that it was computed from, so that a record of it can be checked. Both
  /// are empty in the interval of a rate, and in one that was filled in by hand. JSON has them only
  /// in a Value of the laboratory's records.
  std::string of = {};
  std::vector<double> draws = {};

  using T = Interval;
  using Fields = Listed<&T::value, &T::low, &T::high>;
  /// "0.252 [0.238, 0.266]"
  std::string text() const;
};

/// The sum of values divided by their number; NaN without values.
double mean_of(std::span<const double> values);

/// Whether values differ by no more than rounding: by 1e-12 of `scale`, the largest |number| that
/// they were computed from. Then their variance is unknown, not small. For at least one value.
bool equal_up_to_rounding(std::span<const double> values, double scale);

/// Mean of independent values with Student's t-interval, mean +- t s / sqrt(n). A single value, and
/// values that are equal up to rounding, have an interval of no width. Throws UsageError without
/// values.
Interval mean_interval(std::span<const double> values);

/// Mean of independent shares, such as the accuracies of several seeds, with an interval inside
/// [0, 1]: the t-interval of mean_interval(), half width h, on the scale of logit(m) = log(m / (1 -
/// m)), where h becomes h / (m (1 - m)) (delta method). Values outside [0, 1], such as error rates
/// above 1, get mean_interval(). Throws UsageError without values.
Interval share_interval(std::span<const double> values);

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
