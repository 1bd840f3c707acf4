// GELU in xtensor: the reference of kernels/gelu.
#pragma once

#include <numbers>

#include "kernels/reference.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace reference {

/// x/2 erfc(-x / sqrt 2): no cancellation where the result is tiny.
inline Matrix<double> gelu(const Matrix<double>& x) {
  return 0.5 * x * xt::erfc(-x / std::numbers::sqrt2);
}

/// Phi(x) + x phi(x)
inline Matrix<double> gelu_slope(const Matrix<double>& x) {
  return 0.5 * xt::erfc(-x / std::numbers::sqrt2) +
         x * xt::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
}

}  // namespace reference
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
