// Matrix products and the linear map.
#pragma once

#include <vector>

#include "headroom/autograd/tensor.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// a b for [..., M, K] and [..., K, N]; the leading axes broadcast. Both need at least two axes.
/// da = dy b^T, db = a^T dy, summed over broadcast axes. Throws ShapeError. Unfused:
/// composed::matmul.
Tensor matmul(const Tensor& a, const Tensor& b);

/// y = x W^T + b for x [..., in], weight [out, in], bias [out] or undefined: PyTorch's convention.
/// dx = dy W, dW = dy^T x, db = sum of dy. Throws ShapeError. Unfused: composed::linear.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

/// Several linear maps of the same x, their outputs side by side: the same as
/// concat({linear(x, W_0, b_0), linear(x, W_1, b_1), ...}, -1), without the copies.
/// weights[i] is [out_i, in]; biases is empty or has one entry (possibly undefined) per weight.
/// Throws ShapeError. Unfused: composed::linear_side_by_side.
Tensor linear_side_by_side(const Tensor& x, const std::vector<Tensor>& weights,
                           const std::vector<Tensor>& biases);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
