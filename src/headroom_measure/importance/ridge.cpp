// Ridge regression.
#include "importance/ridge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Solves A c = b for a symmetric positive definite A [n][n], of which the lower triangle is read.
std::vector<double> solved(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {  // A = L L', L in place of A's lower triangle
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(sum) : sum / a[j][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {  // L z = b
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {  // L' c = z
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

}  // namespace

std::vector<double> ridge_regression(const std::vector<std::vector<double>>& rows,
                                     const std::vector<double>& y,
                                     const std::vector<double>& penalties) {
  const std::size_t n = penalties.size();
  const bool fits =
      !rows.empty() && y.size() == rows.size() &&
      std::all_of(rows.begin(), rows.end(), [&](const auto& row) { return row.size() == n; }) &&
      std::all_of(penalties.begin(), penalties.end(), [](double p) { return p > 0; });
  if (!fits) {
    throw UsageError(fmt::format(
        "ridge_regression: {} rows, {} values and {} penalties; each row needs a value and as many "
        "numbers as there are penalties, which must be positive",
        rows.size(), y.size(), n));
  }
  // Without the means, the constant needs no column of its own and no penalty.
  const auto count = double(rows.size());
  std::vector<double> means(n, 0), right(n, 0);
  double mean_y = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t j = 0; j < n; ++j) means[j] += rows[r][j] / count;
    mean_y += y[r] / count;
  }
  std::vector<std::vector<double>> products(n, std::vector<double>(n, 0));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < n; ++i) {
      const double x = rows[r][i] - means[i];
      for (std::size_t j = 0; j <= i; ++j) products[i][j] += x * (rows[r][j] - means[j]);
      right[i] += x * (y[r] - mean_y);
    }
  }
  for (std::size_t j = 0; j < n; ++j) products[j][j] += penalties[j];
  std::vector<double> coefficients = solved(std::move(products), std::move(right));
  double constant = mean_y;
  for (std::size_t j = 0; j < n; ++j) constant -= coefficients[j] * means[j];
  coefficients.insert(coefficients.begin(), constant);
  return coefficients;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
