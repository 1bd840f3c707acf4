// Layer norm and RMS norm, composed of other operations.
#include "headroom/ops/composed.hpp"
#include "headroom/ops/ops.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace composed {

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, Real epsilon) {
  if (x.size() == 0) return headroom::layer_norm(x, weight, bias, epsilon);  // no row, no mean
  const Tensor centred = x - headroom::mean(x, {-1}, true);
  const Tensor variance = headroom::mean(centred * centred, {-1}, true);
  Tensor y = centred / sqrt(variance + epsilon);
  if (weight.defined()) y = y * weight;
  if (bias.defined()) y = y + bias;
  return y;
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, Real epsilon) {
  if (x.size() == 0) return headroom::rms_norm(x, weight, epsilon);  // no row, no mean
  const Tensor y = x / sqrt(headroom::mean(x * x, {-1}, true) + epsilon);
  return weight.defined() ? y * weight : y;
}

}  // namespace composed
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
