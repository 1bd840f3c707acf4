// GELU with the normal distribution itself (not its tanh approximation).
#pragma once

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

/// y_i = x_i Phi(x_i)
void gelu(const Real* x, Index n, Real* y);

/// dx_i (+)= dy_i (Phi(x_i) + x_i phi(x_i))
void gelu_backward(const Real* x, const Real* dy, Index n, bool add, Real* dx);

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
