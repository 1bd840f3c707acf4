// Exercise 02/1: write the slope of a function from two of its values.
//
//   Real central_difference(const std::function<Real(Real)>& f, Real x, Real h)
//
// It looks at f one step to the right and one step to the left of x, and returns the slope of the
// line through both points. Its error is about h^2 f'''(x) / 6: it falls fourfold when h is halved,
// until rounding takes over. You have:
//
//   f(x)          the value of the function, a number
//
// The function is not in the library, whose gradcheck has a formula with four points. You write
// that one in 02/2.
#pragma once

#include "common/answer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Real central_difference(const std::function<Real(Real)>& f, Real x, Real h);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
