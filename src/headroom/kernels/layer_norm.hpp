// Layer norm over the rows of a matrix.
#pragma once

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

/// y_rc = (x_rc - mean_r) rstd_r weight_c + bias_c with rstd = 1 / sqrt(variance + epsilon); the
/// variance is biased and computed in two passes. weight and bias may be nullptr: 1 and 0. Keeps
/// mean and rstd, one per row, for the backward pass.
void layer_norm(const Real* x, const Real* weight, const Real* bias, Real epsilon, Index rows,
                Index columns, Real* y, Real* mean, Real* rstd);

/// Pointers to the gradients of layer_norm or rms_norm, nullptr where none is wanted; the add_
/// flags tell which have a sum already that is added to.
struct NormGradients {
  Real* dx = nullptr;
  Real* dweight = nullptr;
  Real* dbias = nullptr;
  bool add_x = false, add_weight = false, add_bias = false;
};

/// With n = (x - mean) rstd, the normalised x, and g = dy weight:
///   dx      = rstd (g - mean_c(g) - n mean_c(g n))
///   dweight = sum_r dy n,   dbias = sum_r dy
void layer_norm_backward(const Real* x, const Real* weight, const Real* mean, const Real* rstd,
                         const Real* dy, Index rows, Index columns, const NormGradients& into);

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
