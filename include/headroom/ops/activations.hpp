// Activation functions, elementwise. "Unfused" names the same function composed of other operations
// (composed.hpp).
#pragma once

#include <string>

#include "headroom/autograd/tensor.hpp"
#include "headroom/base/names.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// max(x, 0); gradient 0 at 0. Unfused: composed::relu.
Tensor relu(const Tensor& x);
/// x Phi(x), Phi the normal distribution's cdf by erf. Hendrycks and Gimpel 2016, section 2. It
/// has no unfused version, because no other operation computes erf; tests compare with std::erf.
Tensor gelu(const Tensor& x);
/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). The same paper's approximation; GPT-2 uses it.
/// Unfused: composed::gelu_tanh.
Tensor gelu_tanh(const Tensor& x);
/// x sigmoid(x), also called swish. Unfused: composed::silu.
Tensor silu(const Tensor& x);
Tensor tanh(const Tensor& x);
/// 1 / (1 + e^-x). Unfused: composed::sigmoid.
Tensor sigmoid(const Tensor& x);

/// The activations that layers can be configured with.
enum class Activation { relu, gelu, gelu_tanh, silu, tanh, sigmoid };
Tensor activate(Activation kind, const Tensor& x);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
