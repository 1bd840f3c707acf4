// Linear regression with a penalty on large coefficients. Private.
#pragma once

#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A penalty that decides only between coefficients that fit equally well.
inline constexpr double no_penalty = 1e-9;

/// The coefficients c[0], c[1], ... that minimise sum over rows of (y - c[0] - sum_j c[j + 1]
/// x[j])^2 + sum_j penalties[j] c[j + 1]^2, by the normal equations and Cholesky's decomposition.
/// Hoerl and Kennard 1970. Throws UsageError without rows, unless there is one y for each row and
/// one penalty for each number of a row, and for a penalty that is not positive.
std::vector<double> ridge_regression(const std::vector<std::vector<double>>& rows,
                                     const std::vector<double>& y,
                                     const std::vector<double>& penalties);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
