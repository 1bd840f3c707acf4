//! title: attention_scale
//! replaces: headroom::attention_scale
//! minutes: 5
//! difficulty: 1
//! path: short
//! mistake: with head_dim = 16 your function returns 1, so the scores are 4 times too large
//! hint: The table in the chapter has the standard deviation of a score for several sizes. By
//!   what would you divide each column of it to get 1?
//! hint: A sum of D products has the variance D, so its standard deviation is the root of D. The
//!   function returns a factor, not a divisor. head_dim is an integer: 1 / head_dim is 0 in C++.
//! hint: 1 / std::sqrt(Real(head_dim))
//! after: That was the whole procedure: read, edit, save, read what the checks say. Each attention
//!   of the library asks your function for its scale now. `learn run first_light` runs the film on
//!   it.
// Exercise 00/1, attention_scale: the factor that keeps scores at size 1.
#include "1_scale.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Real attention_scale(Index head_dim) {
  //! solution
  return 1 / std::sqrt(Real(head_dim));
  //! skeleton
  // return 1;  // compiles and runs, and the checks say why it is wrong
  //! mistake sqrt_missing: it was divided by head_dim, not by its root
  // return 1 / Real(head_dim);
  //! mistake multiplied: it was multiplied by the root. Large sums have to become smaller
  // return std::sqrt(Real(head_dim));
  //! mistake integers: integers were divided: 1 / head_dim divides integers, and 1 / 16 is 0.
  //!   Real(head_dim) is a number with a fraction
  // return 1 / head_dim;
  //! wrong integer_exponent: with head_dim = 16 your function returns 1, so the scores are 4 times
  // return Real(std::pow(head_dim, -1 / 2));
  //! mistake truncated_root: the root was rounded down to an integer
  // return 1 / Real(Index(std::sqrt(Real(head_dim))));
  //! wrong one_constant: the same number for every head_dim
  // return Real(0.25);
  //! mistake squared: it was divided by the square of head_dim, not by its root
  // return 1 / Real(head_dim * head_dim);
  //! wrong a_little_more: the scores are 0.1 % too large
  // return Real(1.001) / std::sqrt(Real(head_dim));
  //! wrong negative: the sign is flipped
  // return -1 / std::sqrt(Real(head_dim));
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
