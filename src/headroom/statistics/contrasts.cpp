// Student's t-test of pairs, and Holm's correction.
#include "headroom/statistics/contrasts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

double student_p(double t, Index freedom) {
  if (freedom < 1) throw UsageError(fmt::format("student_p: {} degrees of freedom", freedom));
  const double angle = std::atan(std::abs(t) / std::sqrt(double(freedom)));
  const double sine = std::sin(angle), cosine = std::cos(angle);
  const bool odd = freedom % 2 == 1;
  // The terms of both series differ in the exponents and coefficients they begin with.
  double term = odd ? cosine : 1, sum = 0;
  for (Index k = odd ? 1 : 0; k <= freedom - 2; k += 2) {
    sum += term;
    term *= cosine * cosine * double(k + 1) / double(k + 2);
  }
  constexpr double pi = 3.141592653589793;
  const double within = odd ? 2 / pi * (angle + sine * sum) : sine * sum;
  return std::clamp(1 - within, 0.0, 1.0);
}

double student_t(std::size_t freedom) {
  constexpr std::array<double, 30> points = {
      12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
      2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
      2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  if (freedom < 1) throw UsageError("student_t: 0 degrees of freedom");
  if (freedom <= points.size()) return points[freedom - 1];
  constexpr double z = 1.959964;
  const double z3 = z * z * z, z5 = z3 * z * z, n = double(freedom);
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n);
}

PairedContrast paired_contrast(std::span<const double> x, std::span<const double> y) {
  if (x.empty() || x.size() != y.size()) {
    throw UsageError(fmt::format("paired_contrast: {} and {} values", x.size(), y.size()));
  }
  std::vector<double> differences(x.size());
  std::transform(x.begin(), x.end(), y.begin(), differences.begin(), std::minus<>());
  const Interval mean = mean_interval(differences);
  double largest = 0, squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    largest = std::max({largest, std::abs(x[i]), std::abs(y[i])});
  if (equal_up_to_rounding(differences, largest)) return {mean.value};
  const auto n = double(differences.size());
  for (const double d : differences) squares += (d - mean.value) * (d - mean.value);
  const double error = std::sqrt(squares / (n - 1) / n);
  return {mean.value, mean, student_p(mean.value / error, Index(differences.size()) - 1)};
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    largest = std::max(largest, std::min(1.0, double(p.size() - k) * p[order[k]]));
    adjusted[order[k]] = largest;
  }
  return adjusted;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
