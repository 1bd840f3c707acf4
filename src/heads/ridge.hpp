// Linear regression with a penalty on large coefficients. Private.
#pragma once

#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The coefficients c[0], c[1], ... that minimise sum over rows of (y - c[0] - sum_j c[j + 1]
/// x[j])^2 + penalty * sum_j c[j + 1]^2, by the normal equations and Cholesky's decomposition.
/// Hoerl and Kennard 1970. All rows have the same length. Throws UsageError without rows, for a
/// penalty that is not positive, and unless there is one y for each row.
std::vector<double> ridge_regression(const std::vector<std::vector<double>>& rows,
                                     const std::vector<double>& y, double penalty);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
