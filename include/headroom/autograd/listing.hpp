// Listed parameters: those that the members() of a module has named.
#pragma once

#include <string>

#include "headroom/autograd/tensor.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Says that a module lists this leaf: parameters() calls it for all that it returns, for instance
/// to an optimizer, and Attention for gates, which no module lists. The walks of constructors and
/// of eval() do not: a child may make them whose parent forgets it.
void set_listed(const Tensor& leaf);

/// "a parameter of shape [3, 4] that 'multiply' reads": a tensor made by parameter() that a
/// backward pass reached together with this listed leaf since its zero_grad(), that no module has
/// listed and that still exists. Empty when there is none. A module that forgets one in its
/// members() leaves it untrained, although it gets a gradient.
std::string unlisted_beside(const Tensor& leaf);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
