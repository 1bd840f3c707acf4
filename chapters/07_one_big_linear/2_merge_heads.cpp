//! title: composed::merge_heads
//! replaces: headroom::composed::merge_heads
//! minutes: 15
//! difficulty: 2
//! path: short
//! needs: 06/1
//! hint: Write down where element (b, h, t, d) of [B, H, T, D] is in memory, and where it must
//!   be in [B, T, H D]. Is it the same place?
//! hint: Two steps. After the first, the features of all heads of one token are neighbours in
//!   memory: [B, T, H, D]. The second only counts them differently.
//! hint: permute(heads, {0, 2, 1, 3}), then reshape(..., {B, T, H * D}).
//! after: attention() itself never moves the heads: it is told in which column each one begins, and
//!   writes its result into the right columns. merge_heads is for the unfused version, where every
//!   step can be looked at.
// Exercise 07/2, merge_heads: the heads side by side again.
#include "2_merge_heads.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace composed {

Tensor merge_heads(const Tensor& heads) {
  //! solution
  const Tensor by_token = permute(heads, {0, 2, 1, 3});  // [B, T, H, D]
  return reshape(by_token, {heads.dim(0), heads.dim(2), heads.dim(1) * heads.dim(3)});
  //! skeleton
  // return chapter::todo("the heads of each token side by side");
  //! mistake without_swap: tokens of different positions were mixed: a reshape without the swap of
  //!   two axes does that
  // return reshape(heads, {heads.dim(0), heads.dim(2), heads.dim(1) * heads.dim(3)});
  //! mistake interleaved: the heads are interleaved: feature d of head h is in channel d H + h, not
  //!   h D + d. A W_O that is trained with it would not notice; one from a checkpoint would
  // const Tensor by_feature = permute(heads, {0, 2, 3, 1});  // [B, T, D, H]
  // return reshape(by_feature, {heads.dim(0), heads.dim(2), heads.dim(1) * heads.dim(3)});
  //! mistake tokens_first: the examples of the batch were mixed: axis 0 must stay the first
  //- const Tensor by_token = permute(heads, {0, 2, 1, 3});  // [B, T, H, D]
  //+ const Tensor by_token = permute(heads, {2, 0, 1, 3});  // [T, B, H, D]
  //! mistake features_first: the order of the tokens and of the features is exchanged
  //- const Tensor by_token = permute(heads, {0, 2, 1, 3});  // [B, T, H, D]
  //+ const Tensor by_token = permute(heads, {0, 3, 1, 2});  // [B, D, H, T]
  //! wrong keeps_four_axes: the merged heads have the shape [2, 6, 3, 4], expected [2, 6, 12]
  // return permute(heads, {0, 2, 1, 3});
  //! wrong heads_added: the merged heads have the shape [2, 6, 4], expected [2, 6, 12]
  // return sum(heads, {1});
  //! wrong not_recorded: the result is not recorded on the tape
  // const Tensor by_token = permute(heads.detach(), {0, 2, 1, 3});
  // return reshape(by_token, {heads.dim(0), heads.dim(2), heads.dim(1) * heads.dim(3)});
  //! end
}

}  // namespace composed
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
