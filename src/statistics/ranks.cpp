// Order and correlation of measured numbers.
#include "headroom/statistics/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

double rank_correlation(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) {
    throw UsageError(fmt::format("rank_correlation: {} and {} values", x.size(), y.size()));
  }
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
