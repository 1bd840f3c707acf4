// Order and correlation of measured numbers.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The value in the middle of the sorted ones, or the mean of the two in the middle. Throws
/// UsageError without values.
double median(std::span<const double> values);

/// The rank of each value, 1 for the smallest. Equal values share the mean of their ranks.
std::vector<double> ranks(std::span<const double> values);

/// Spearman's rank correlation: the correlation of the ranks, in [-1, 1]. 0 where all values of one
/// side are equal. Throws UsageError unless x and y have the same length.
double rank_correlation(std::span<const double> x, std::span<const double> y);

/// Kendall's tau-b: concordant minus discordant pairs, divided by the square root of the number of
/// pairs that are not tied in x times that of those not tied in y. 0 where all values of one side
/// are equal. Throws UsageError unless x and y have the same length. Kendall 1945.
double kendall_tau(std::span<const double> x, std::span<const double> y);

/// The share of the `count` largest values of x that are also among the `count` largest of y. Of
/// equal values the first ones count as larger. Throws UsageError unless x and y have the same
/// length and 1 <= count <= length.
double top_overlap(std::span<const double> x, std::span<const double> y, Index count);

/// Slope of the straight line through points (x, y) with the least sum of squared distances in y.
/// Throws UsageError without two different x.
double least_squares_slope(std::span<const std::pair<double, double>> points);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
