// Student's t-test of pairs, and Holm's correction.
#include "headroom/statistics/contrasts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
constexpr double pi = 3.141592653589793;
}

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
  const double within = odd ? 2 / pi * (angle + sine * sum) : sine * sum;
  return std::clamp(1 - within, 0.0, 1.0);
}

double student_t(std::size_t freedom) {
  if (freedom < 1) throw UsageError("student_t: 0 degrees of freedom");
  const double n = double(freedom), z = normal_point, z2 = z * z;
  double t = z + z * (1 + z2) / (4 * n) + z * (3 + z2 * (16 + 5 * z2)) / (96 * n * n) +
             z * (-15 + z2 * (17 + z2 * (19 + 3 * z2))) / (384 * n * n * n);
  if (freedom > 100) return t;  // the next term is below 2e-8
  const double log_scale = std::lgamma((n + 1) / 2) - std::lgamma(n / 2) - std::log(n * pi) / 2;
  for (double step = 1; std::abs(step) > 1e-12 * t;) {
    const double density = std::exp(log_scale - (n + 1) / 2 * std::log1p(t * t / n));
    step = (student_p(t, Index(freedom)) - 0.05) / (2 * density);
    t += step;
  }
  return t;
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
