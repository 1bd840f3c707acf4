//! title: operator* and tanh
//! minutes: 20
//! difficulty: 1
//! path: short
//! hint: y = a b, and a is a little larger. By how much is y larger? And by how much is L, if dy
//!   is what L gains for each unit of y?
//! hint: Each input gets dy, times the derivative of y by that input. For a product the derivative
//!   by a is the value of b. For tanh it is 1 - y * y, with the y that you have computed already.
//! hint: into[0] += dy * b.value(); into[1] += dy * a.value(); and for tanh
//!   into[0] += dy * (1 - y * y); where the lambda keeps [a, b] and [y].
//! after: All operations of the library have closures of this pattern: dy, times the derivative of
//!   the operation itself, added. Its matmul does that with matrices.
// Exercise 01/1: operations of the scalar tape.
#include "1_operations.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace scalar {

Value operator*(const Value& a, const Value& b) {
  //! solution
  return record(a.value() * b.value(), {a, b}, [a, b](Real dy, const Gradients& into) {
    into[0] += dy * b.value();
    into[1] += dy * a.value();
  });
  //! skeleton
  // const Real y = chapter::todo("the value of a * b");
  // return record(y, {a, b}, [a, b](Real dy, const Gradients& into) {
  //   into[0] += Real(chapter::todo("the gradient of a: dy times dy/da"));
  //   into[1] += Real(chapter::todo("the gradient of b: dy times dy/db"));
  // });
  //! mistake adds: the value is that of a + b
  //- return record(a.value() * b.value(), {a, b}, [a, b](Real dy, const Gradients& into) {
  //+ return record(a.value() + b.value(), {a, b}, [a, b](Real dy, const Gradients& into) {
  //! mistake swapped_factor: each factor got its own value, not the other one's
  //- into[0] += dy * b.value();
  //- into[1] += dy * a.value();
  //+ into[0] += dy * a.value();
  //+ into[1] += dy * b.value();
  //! mistake overwrites: the second contribution replaced the first: a gradient is added, by +=
  //- into[0] += dy * b.value();
  //- into[1] += dy * a.value();
  //+ into[0] = dy * b.value();
  //+ into[1] = dy * a.value();
  //! mistake forgets_incoming: dy is missing: what comes after the product never gets through
  // return record(a.value() * b.value(), {a, b}, [a, b](Real, const Gradients& into) {
  //   into[0] += b.value();
  //   into[1] += a.value();
  // });
  //! mistake like_a_sum: each factor got dy, as in a sum
  // return record(a.value() * b.value(), {a, b}, [](Real dy, const Gradients& into) {
  //   into[0] += dy;
  //   into[1] += dy;
  // });
  //! wrong only_the_first: no gradient arrived at b
  // return record(a.value() * b.value(), {a, b},
  //               [b](Real dy, const Gradients& into) { into[0] += dy * b.value(); });
  //! wrong adds_nothing: no gradient arrived at a and b
  // return record(a.value() * b.value(), {a, b}, [](Real, const Gradients&) {});
  //! wrong one_input: a * b is recorded with 1 input; it has 2
  // return record(a.value() * b.value(), {a},
  //               [b](Real dy, const Gradients& into) { into[0] += dy * b.value(); });
  //! wrong not_recorded: a * b is not recorded on the tape
  // return Value(a.value() * b.value());
  //! end
}

Value tanh(const Value& x) {
  //! solution
  const Real y = std::tanh(x.value());
  return record(y, {x}, [y](Real dy, const Gradients& into) { into[0] += dy * (1 - y * y); });
  //! skeleton
  // const Real y = chapter::todo("the value of tanh x");
  // return record(y, {x}, [y](Real dy, const Gradients& into) {
  //   into[0] += Real(chapter::todo("the gradient of x"));
  // });
  //! mistake of_x: x was used where the formula has y = tanh x
  // const Real y = std::tanh(x.value());
  // return record(y, {x}, [x](Real dy, const Gradients& into) {
  //   into[0] += dy * (1 - x.value() * x.value());
  // });
  //! mistake no_square: the square is missing in 1 - y^2
  //- return record(y, {x}, [y](Real dy, const Gradients& into) { into[0] += dy * (1 - y * y); });
  //+ return record(y, {x}, [y](Real dy, const Gradients& into) { into[0] += dy * (1 - y); });
  //! mistake tanh_without_dy: dy is missing: what comes after tanh never gets through
  //- return record(y, {x}, [y](Real dy, const Gradients& into) { into[0] += dy * (1 - y * y); });
  //+ return record(y, {x}, [y](Real, const Gradients& into) { into[0] += 1 - y * y; });
  //! mistake tanh_overwrites: the second contribution replaced the first: a gradient is added, by
  //!   +=
  //- return record(y, {x}, [y](Real dy, const Gradients& into) { into[0] += dy * (1 - y * y); });
  //+ return record(y, {x}, [y](Real dy, const Gradients& into) { into[0] = dy * (1 - y * y); });
  //! wrong of_exponentials: tanh(400) is NaN
  // const Real e = std::exp(2 * x.value()), y = (e - 1) / (e + 1);
  // return record(y, {x}, [y](Real dy, const Gradients& into) { into[0] += dy * (1 - y * y); });
  //! wrong two_inputs: the operation does not have this input
  // const Real y = std::tanh(x.value());
  // return record(y, {x}, [y](Real dy, const Gradients& into) { into[1] += dy * (1 - y * y); });
  //! end
}

}  // namespace scalar
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
