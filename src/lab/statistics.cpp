// Means and rates with their 95 % intervals.
#include "headroom/lab/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The 97.5 % point of Student's t. A table up to 30 degrees of freedom; beyond, the first terms of
/// Cornish and Fisher's expansion, good to 1e-3 there.
double student_t(std::size_t freedom) {
  constexpr std::array<double, 30> points = {
      12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
      2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
      2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  if (freedom <= points.size()) return points[freedom - 1];
  constexpr double z = 1.959964;
  return z + (z * z * z + z) / (4 * static_cast<double>(freedom));
}

}  // namespace

std::string Interval::text() const {
  return fmt::format("{:.3g} [{:.3g}, {:.3g}]", value, low, high);
}

Interval mean_interval(std::span<const double> values) {
  if (values.empty()) throw UsageError("mean_interval: no values");
  const auto n = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double v : values) mean += v / n;
  for (const double v : values) squares += (v - mean) * (v - mean);
  if (values.size() == 1) return {mean, mean, mean};
  const double half = student_t(values.size() - 1) * std::sqrt(squares / (n - 1) / n);
  return {mean, mean - half, mean + half};
}

Interval geometric_mean(std::span<const double> values) {
  std::vector<double> logs(values.begin(), values.end());
  for (double& value : logs) value = std::log(value);
  const Interval mean = mean_interval(logs);
  return {std::exp(mean.value), std::exp(mean.low), std::exp(mean.high)};
}

Interval rate_interval(Index successes, Index draws) {
  if (draws < 1 || successes < 0 || successes > draws) {
    throw UsageError(fmt::format("rate_interval: {} of {} draws", successes, draws));
  }
  constexpr double z = 1.959964;
  const auto n = static_cast<double>(draws);
  const double p = static_cast<double>(successes) / n, shrink = 1 + z * z / n;
  const double centre = (p + z * z / (2 * n)) / shrink;
  const double half = z / shrink * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return {p, std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

double least_squares_slope(std::span<const std::pair<double, double>> points) {
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  for (const auto& [x, y] : points) {
    mean_x += x / static_cast<double>(points.size());
    mean_y += y / static_cast<double>(points.size());
  }
  for (const auto& [x, y] : points) {
    xx += (x - mean_x) * (x - mean_x);
    xy += (x - mean_x) * (y - mean_y);
  }
  if (!(xx > 0)) throw UsageError("least_squares_slope: needs two different x");
  return xy / xx;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
