// Layer norm and RMS norm, over the last axis.
#pragma once

#include "headroom/autograd/tensor.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axis; the variance is biased
/// and computed in two passes. weight and bias are [C] or undefined (1 and 0). A constant row gives
/// the bias. Ba, Kiros and Hinton 2016, equation 4. Throws ShapeError. Unfused:
/// composed::layer_norm.
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                  Real epsilon = Real(1e-5));

/// x / sqrt(mean(x^2) + epsilon) * weight over the last axis; weight is [C] or undefined.
/// Zhang and Sennrich 2019, equation 4. Throws ShapeError. Unfused: composed::rms_norm.
Tensor rms_norm(const Tensor& x, const Tensor& weight, Real epsilon = Real(1e-5));

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
