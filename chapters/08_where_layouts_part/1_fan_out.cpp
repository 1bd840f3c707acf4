//! title: Attention::projection_fan_out
//! replaces: headroom::Attention::projection_fan_out
//! minutes: 10
//! difficulty: 1
//! path: short
//! hint: How many rows does each of the three matrices have? The comment in the contract names
//!   them; the sizes of a row do not matter.
//! hint: packed is three times per_matrix. per_head is one part of H of per_matrix. Is per_matrix
//!   C, when a layer has 4 heads of 5 rows and a width of 12?
//! hint: packed 3 H D, per_matrix H D, per_head D, with H = config().heads.
//! after: The library's own is in src/headroom/nn/attention.cpp. Both constructors call it, so a
//!   seed gives both layouts the same weights, under each policy.
// Exercise 08/1, Attention::projection_fan_out: how large the first weights are.
#include "1_fan_out.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Index Attention::projection_fan_out() const {
  //! solution
  const Index matrix = config().heads * config().head_dim;
  //! skeleton
  // const Index matrix = chapter::todo("matrix: the rows of all heads");
  //! wrong live_heads: It looks as if removed heads were not counted
  // const Index matrix = live() * config().head_dim;
  //! wrong width: It looks as if H D was taken to be C
  // const Index matrix = config().width;
  //! end
  switch (config().init) {
    //! solution
    case FanPolicy::packed: return 3 * matrix;
    case FanPolicy::per_matrix: return matrix;
    case FanPolicy::per_head:
      return config().head_dim;
      //! skeleton
      // case FanPolicy::packed: return chapter::todo("packed");
      // case FanPolicy::per_matrix: return chapter::todo("per_matrix");
      // case FanPolicy::per_head: return chapter::todo("per_head");
      //! wrong packed_always: the logits start at 0.50 instead of 1.00
      // case FanPolicy::packed:
      // case FanPolicy::per_matrix:
      // case FanPolicy::per_head: return 3 * matrix;
      //! wrong per_head_always: the logits start at 1.60 instead of 1.00
      // case FanPolicy::packed:
      // case FanPolicy::per_matrix:
      // case FanPolicy::per_head: return config().head_dim;
      //! wrong packed_heads: with FanPolicy::packed your function returns 9
      // case FanPolicy::packed: return 3 * config().head_dim;
      // case FanPolicy::per_matrix: return matrix;
      // case FanPolicy::per_head: return config().head_dim;
      //! wrong number_of_heads: It looks as if the number of heads was returned
      // case FanPolicy::packed: return 3 * matrix;
      // case FanPolicy::per_matrix: return matrix;
      // case FanPolicy::per_head: return config().heads;
      //! end
  }
  return matrix;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
