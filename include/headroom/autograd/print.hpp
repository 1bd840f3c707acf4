// Tensors as text.
#pragma once

#include <ostream>
#include <string>

#include "headroom/array/print.hpp"
#include "headroom/autograd/tensor.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// "Tensor [2, 3], a result of 'multiply'" and the elements below it, as text(Array) shows them. A
/// leaf is "a parameter" or "a leaf with gradient"; one that requires no gradient has the shape
/// alone. "Tensor, undefined" without elements.
std::string text(const Tensor& tensor);
/// Prints text().
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
