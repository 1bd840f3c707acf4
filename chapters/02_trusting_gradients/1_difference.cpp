//! title: central_difference
//! minutes: 5
//! difficulty: 1
//! hint: At which two places do you need f? How far are they apart?
//! hint: The slope of a line through two points is the difference of the heights, divided by the
//!   distance of the places, which is not h.
//! hint: (f(x + h) - f(x - h)) / (2 * h)
//! after: Two of them make the formula with four points: (4 D(h) - D(2h)) / 3. The error of D(2h)
//!   is four times that of D(h), so most of both cancels.
// Exercise 02/1: the slope of a function, from two of its values.
#include "1_difference.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Real central_difference(const std::function<Real(Real)>& f, Real x, Real h) {
  //! solution
  return (f(x + h) - f(x - h)) / (2 * h);
  //! skeleton
  // return chapter::todo("the slope of f at x, from two values");
  //! mistake one_sided: the slope was taken from x to x + h: one side sees the curve bend, and its
  //!   error only halves when h does
  // return (f(x + h) - f(x)) / h;
  //! mistake to_the_left: the slope was taken from x - h to x: one side sees the curve bend, and
  //!   its error only halves when h does
  // return (f(x) - f(x - h)) / h;
  //! mistake half: it was divided by h, and the two points are 2 h apart
  // return (f(x + h) - f(x - h)) / h;
  //! mistake sign: the right value was taken from the left one
  // return (f(x - h) - f(x + h)) / (2 * h);
  //! mistake not_divided: nothing was divided: it is the difference of two values, not yet a slope
  // return f(x + h) - f(x - h);
  //! mistake divided_by_2: it was divided by 2, not by 2 h
  // return (f(x + h) - f(x - h)) / 2;
  //! mistake operator_order: 2 h lacks its parentheses: "/ 2 * h" divides by 2 and then multiplies
  //!   by h
  // return (f(x + h) - f(x - h)) / 2 * h;
  //! wrong own_step: the slope does not depend on h
  // const Real step = Real(0.1);
  // return (f(x + step) - f(x - step)) / (2 * step);
  //! wrong tiny_step: the slope does not depend on h
  // const Real step = Real(1e-6);
  // return (f(x + step) - f(x - step)) / (2 * step);
  //! wrong four_points: it is the formula with four points
  // return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h);
  //! wrong four_points_within: it is the formula with four points
  // const Real wide = (f(x + h) - f(x - h)) / (2 * h), close = (f(x + h / 2) - f(x - h / 2)) / h;
  // return (4 * close - wide) / 3;
  //! mistake squared: the step h^2 was used in place of h
  // return (f(x + h * h) - f(x - h * h)) / (2 * h * h);
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
