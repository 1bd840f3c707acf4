// Order and correlation of measured numbers.
#include "headroom/statistics/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

double median(std::span<const double> values) {
  if (values.empty()) throw UsageError("median: no values");
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

std::vector<double> ranks(std::span<const double> values) {
  std::vector<double> result;
  for (const double v : values) {
    const auto less = std::count_if(values.begin(), values.end(), [v](double w) { return w < v; });
    const auto same = std::count(values.begin(), values.end(), v);
    result.push_back(double(less) + double(same + 1) / 2);
  }
  return result;
}

namespace {

void require_pairs(const char* function, std::span<const double> x, std::span<const double> y) {
  if (x.size() == y.size()) return;
  throw UsageError(fmt::format("{}: {} and {} values", function, x.size(), y.size()));
}

int sign(double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

/// For each value, whether it is among the `count` largest.
std::vector<bool> among_largest(std::span<const double> values, Index count) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  std::vector<bool> largest(values.size());
  for (Index i = 0; i < count; ++i) largest[order[std::size_t(i)]] = true;
  return largest;
}

}  // namespace

double rank_correlation(std::span<const double> x, std::span<const double> y) {
  require_pairs("rank_correlation", x, y);
  const std::vector<double> a = ranks(x), b = ranks(y);
  const double mean = (double(a.size()) + 1) / 2;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

double kendall_tau(std::span<const double> x, std::span<const double> y) {
  require_pairs("kendall_tau", x, y);
  double agreement = 0, untied_x = 0, untied_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int a = sign(x[i] - x[j]), b = sign(y[i] - y[j]);
      agreement += a * b;
      untied_x += a * a;
      untied_y += b * b;
    }
  }
  return untied_x > 0 && untied_y > 0 ? agreement / std::sqrt(untied_x * untied_y) : 0;
}

double top_overlap(std::span<const double> x, std::span<const double> y, Index count) {
  require_pairs("top_overlap", x, y);
  if (count < 1 || count > std::ssize(x)) {
    throw UsageError(fmt::format("top_overlap: {} of {} values", count, x.size()));
  }
  const std::vector<bool> a = among_largest(x, count), b = among_largest(y, count);
  Index both = 0;
  for (std::size_t i = 0; i < a.size(); ++i) both += a[i] && b[i] ? 1 : 0;
  return double(both) / double(count);
}

double least_squares_slope(std::span<const std::pair<double, double>> points) {
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  for (const auto& [x, y] : points) {
    mean_x += x / double(points.size());
    mean_y += y / double(points.size());
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
