// RMS norm over the rows of a matrix.
#pragma once

#include "kernels/layer_norm.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

/// y_rc = x_rc rrms_r weight_c with rrms = 1 / sqrt(mean_c(x^2) + epsilon), kept for the backward
/// pass. weight may be nullptr: 1.
void rms_norm(const Real* x, const Real* weight, Real epsilon, Index rows, Index columns, Real* y,
              Real* rrms);

/// With n = x rrms and g = dy weight:
///   dx = rrms (g - n mean_c(g n)),   dweight = sum_r dy n
void rms_norm_backward(const Real* x, const Real* weight, const Real* rrms, const Real* dy,
                       Index rows, Index columns, const NormGradients& into);

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
