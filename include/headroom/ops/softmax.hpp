// Softmax and its logarithm, over the last axis.
#pragma once

#include "headroom/autograd/tensor.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// y_i = e^(x_i - max) / sum_j e^(x_j - max) over the last axis; dx_i = y_i (dy_i - sum_j y_j
/// dy_j). Unfused: composed::softmax.
Tensor softmax(const Tensor& x);
/// x_i - log sum_j e^x_j over the last axis; dx_i = dy_i - e^y_i sum_j dy_j. Unfused:
/// composed::log_softmax.
Tensor log_softmax(const Tensor& x);
/// Softmax over the allowed entries only; the others are skipped and get 0, and a row with nothing
/// allowed is 0 with gradient 0. `allowed` broadcasts to x. Throws ShapeError. Unfused:
/// composed::masked_softmax.
Tensor masked_softmax(const Tensor& x, const Bytes& allowed);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
