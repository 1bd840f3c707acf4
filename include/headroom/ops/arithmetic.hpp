// Arithmetic with NumPy's broadcasting, and elementwise functions of one tensor.
#pragma once

#include "headroom/autograd/tensor.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// a + b, a - b, a * b, a / b, elementwise; shapes broadcast as in NumPy, and the gradient of a
/// broadcast input is summed back to its shape. Throw ShapeError when the shapes do not broadcast.
Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& x);

/// The same with a number.
Tensor operator+(const Tensor& a, Real b);
Tensor operator+(Real a, const Tensor& b);
Tensor operator-(const Tensor& a, Real b);
Tensor operator-(Real a, const Tensor& b);
Tensor operator*(const Tensor& a, Real b);
Tensor operator*(Real a, const Tensor& b);
Tensor operator/(const Tensor& a, Real b);
Tensor operator/(Real a, const Tensor& b);

/// e^x
Tensor exp(const Tensor& x);
/// Natural logarithm; -infinity at 0, NaN below.
Tensor log(const Tensor& x);
/// Square root; its gradient at 0 is infinite.
Tensor sqrt(const Tensor& x);
/// x^exponent for a fixed exponent; a negative x needs an integer exponent.
Tensor pow(const Tensor& x, Real exponent);
/// |x|; gradient 0 at 0.
Tensor abs(const Tensor& x);

/// The larger or smaller of both, elementwise, with broadcasting. The gradient of a tie is shared
/// equally.
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);
/// a where the condition is 1, b where it is 0; all three broadcast. The condition has no gradient.
Tensor where(const Bytes& condition, const Tensor& a, const Tensor& b);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
