// Common code of the tests of optimizers: gradients given by a formula.
#pragma once

#include "headroom/base/rng.hpp"
#include "headroom/nn/module.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

/// Element i of the gradient of step t: ((7 t + 3 i) mod 11 - 5) / 4, exact in every precision.
inline Real slope(Index t, Index i) { return Real((7 * t + 3 * i) % 11 - 5) / Real(4); }

inline void set_slopes(Tensor& tensor, Index t) {
  Array gradient(tensor.shape());
  for (Index i = 0; i < gradient.size(); ++i) gradient[i] = slope(t, i);
  tensor.set_grad(gradient);
}

/// Gives every parameter a normal gradient, the same for the same seed and name.
inline void random_gradients(Module& module, std::uint64_t seed) {
  for (NamedParameter& parameter : parameters(module)) {
    Rng rng(seed, parameter.name);
    Array gradient(parameter.tensor.shape());
    for (Real& x : gradient.span()) x = rng.normal();
    parameter.tensor.set_grad(gradient);
  }
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
