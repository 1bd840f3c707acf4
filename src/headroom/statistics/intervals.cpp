// Means and rates with their 95 % intervals.
#include "headroom/statistics/intervals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "headroom/base/error.hpp"
#include "headroom/statistics/contrasts.hpp"
#include "headroom/statistics/ranks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
std::vector<double> kept(std::span<const double> values) { return {values.begin(), values.end()}; }
}  // namespace

std::string Interval::text() const {
  return fmt::format("{:.3g} [{:.3g}, {:.3g}]", value, low, high);
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

bool equal_up_to_rounding(std::span<const double> values, double scale) {
  return std::ranges::max(values) - std::ranges::min(values) <= 1e-12 * scale;
}

Interval mean_interval(std::span<const double> values) {
  if (values.empty()) throw UsageError("mean_interval: no values");
  double n = double(values.size()), mean = 0, squares = 0;
  for (const double v : values) mean += v / n;
  for (const double v : values) squares += (v - mean) * (v - mean);
  if (equal_up_to_rounding(values, std::abs(mean))) {
    return {mean, mean, mean, "mean", kept(values)};
  }
  const double half = student_t(values.size() - 1) * std::sqrt(squares / (n - 1) / n);
  return {mean, mean - half, mean + half, "mean", kept(values)};
}

Interval share_interval(std::span<const double> values) {
  Interval found = mean_interval(values);
  if (std::ranges::min(values) < 0 || std::ranges::max(values) > 1) return found;
  found.of = "mean of shares";
  if (found.low == found.high) return found;
  const double m = found.value, half = (found.high - m) / (m * (1 - m)), odds = m / (1 - m);
  found.low = 1 / (1 + std::exp(half) / odds);
  found.high = 1 / (1 + std::exp(-half) / odds);
  return found;
}

Interval geometric_mean(std::span<const double> values) {
  std::vector<double> logs(values.begin(), values.end());
  for (double& value : logs) value = std::log(value);
  const Interval mean = mean_interval(logs);
  return {std::exp(mean.value), std::exp(mean.low), std::exp(mean.high), "geometric mean",
          kept(values)};
}

Interval rate_interval(Index successes, Index draws) {
  if (draws < 1 || successes < 0 || successes > draws) {
    throw UsageError(fmt::format("rate_interval: {} of {} draws", successes, draws));
  }
  constexpr double z = normal_point;
  const auto n = double(draws);
  const double p = double(successes) / n, shrink = 1 + z * z / n;
  const double centre = (p + z * z / (2 * n)) / shrink;
  const double half = z / shrink * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  // The ends are exact where rounding would leave 1e-17 instead of 0.
  return {p, successes == 0 ? 0 : std::max(0.0, centre - half),
          successes == draws ? 1 : std::min(1.0, centre + half)};
}

Interval median_interval(std::span<const double> values) {
  const double middle = median(values);
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  // A value is below the true median with probability 1/2. `log_term` is the logarithm of the
  // probability that exactly k of n are, which would underflow from n = 1075; `tail` is the
  // probability that at most k are.
  const auto n = double(sorted.size());
  double log_term = -n * std::log(2.0), tail = std::exp(log_term);
  std::size_t k = 0;
  while (k + 1 < sorted.size()) {
    log_term += std::log((n - double(k)) / double(k + 1));
    tail += std::exp(log_term);
    if (2 * tail > 0.05) break;
    ++k;
  }
  return {middle, sorted[k], sorted[sorted.size() - 1 - k], "median", kept(values)};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
