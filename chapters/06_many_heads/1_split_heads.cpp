//! title: composed::split_heads
//! replaces: headroom::composed::split_heads
//! minutes: 10
//! difficulty: 1
//! path: short
//! hint: In memory, what follows the last feature of head 0 of token 0? What should follow it in
//!   the result?
//! hint: Three steps: only the columns of the heads, [B, T, heads * width]; the last axis counted
//!   as two, [B, T, heads, width]; then two axes exchanged.
//! hint: slice(source, 2, first, first + heads * width), reshape(..., {B, T, heads, width}),
//!   permute(..., {0, 2, 1, 3}).
//! after: The library's attention() makes no such copy. It reads each head's columns where they
//!   are; split_heads is for the unfused version, which shows every step.
// Exercise 06/1, split_heads: one matrix per head.
#include "1_split_heads.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace composed {

Tensor split_heads(const HeadColumns& columns, Index heads, Index width) {
  //! solution
  const Tensor& x = columns.source;
  const Tensor own = slice(x, 2, columns.first, columns.first + heads * width);
  return permute(reshape(own, {x.dim(0), x.dim(1), heads, width}), {0, 2, 1, 3});
  //! skeleton
  // return chapter::todo("the columns of the heads as [B, heads, T, width]");
  //! mistake view_only: head 0 got the first tokens with the features of all heads: a reshape alone
  //!   moves nothing. Reshape, then exchange two axes
  //- return permute(reshape(own, {x.dim(0), x.dim(1), heads, width}), {0, 2, 1, 3});
  //+ return reshape(own, {x.dim(0), heads, x.dim(1), width});
  //! mistake heads_last: the heads were taken as interleaved: head h has columns next to each
  //!   other, not every H-th one
  //- return permute(reshape(own, {x.dim(0), x.dim(1), heads, width}), {0, 2, 1, 3});
  //+ return permute(reshape(own, {x.dim(0), x.dim(1), width, heads}), {0, 3, 1, 2});
  //! mistake from_column_0: the columns were counted from 0: they begin at columns.first
  //- const Tensor own = slice(x, 2, columns.first, columns.first + heads * width);
  //+ const Tensor own = slice(x, 2, 0, heads * width);
  //! wrong no_swap: the values have the shape [2, 5, 3, 4], expected [2, 3, 5, 4]
  //- return permute(reshape(own, {x.dim(0), x.dim(1), heads, width}), {0, 2, 1, 3});
  //+ return reshape(own, {x.dim(0), x.dim(1), heads, width});
  //! wrong all_columns: reshape: the 170 elements of [2, 5, 17] do not fill
  // const Tensor& x = columns.source;
  // return permute(reshape(x, {x.dim(0), x.dim(1), heads, width}), {0, 2, 1, 3});
  //! wrong not_recorded: the result is not recorded on the tape
  //- const Tensor& x = columns.source;
  //+ const Tensor x = columns.source.detach();
  //! end
}

}  // namespace composed
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
