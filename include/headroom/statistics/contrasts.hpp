// Paired comparisons, and tests of many of them at once.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "headroom/statistics/intervals.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The mean of paired differences and its test. Interval and p estimate the variance from the
/// differences. Where these do not vary, it is unknown, and there is neither: two equal differences
/// do not show that a third one would be equal, too.
struct PairedContrast {
  double mean = 0;
  std::optional<Interval> interval = {};  // 95 % t-interval of the mean
  std::optional<double> p = {};           // two-sided p-value of "the mean difference is 0"
};

/// The contrast of values that belong together in pairs: x[i] - y[i], for example of the same seed.
/// p is that of Student's t-test with n - 1 degrees of freedom, t = mean / (s / sqrt(n)). Interval
/// and p are missing for a single pair, and where the differences are equal_up_to_rounding() of
/// the largest |x| and |y|, as shares of few examples often are. Throws UsageError unless x and
/// y have the same length of at least 1.
PairedContrast paired_contrast(std::span<const double> x, std::span<const double> y);

/// The probability that a t-distributed number with that many degrees of freedom (at least 1) is at
/// least as far from 0 as t: finite sums, Abramowitz and Stegun 1964, equations 26.7.3 and 26.7.4.
double student_p(double t, Index freedom);

/// The number t for which a t-distributed number with that many degrees of freedom (at least 1) is
/// between -t and t with the probability 0.95, to 1e-7: Cornish and Fisher's expansion in
/// 1 / freedom (Abramowitz and Stegun 1964, equation 26.7.5), up to 100 followed by Newton's
/// method.
double student_t(std::size_t freedom);

/// P-values corrected for their number by Holm's step-down method: with the k-th smallest of m
/// (k from 1) multiplied by m - k + 1, each adjusted value is the largest of those up to its own,
/// at most 1. Rejecting those of at most a keeps the probability of any false rejection at most a.
/// Holm 1979. In the order of `p`.
std::vector<double> holm(std::span<const double> p);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
