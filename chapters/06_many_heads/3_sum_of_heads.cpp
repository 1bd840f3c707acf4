//! title: sum_of_heads
//! minutes: 15
//! difficulty: 2
//! needs: 06/2
//! hint: The concatenated heads are multiplied by W_O. Which columns of W_O does feature d of
//!   head i meet? And how often does the formula contain b_O?
//! hint: For each live head: its output [B, T, D], its columns of W_O [C, D], one linear without a
//!   bias. Add the results, and b_O once.
//! hint: The share of head i is linear(reshape(slice(heads, 1, i, i + 1), {B, T, D}),
//!   slice(out.weight, 1, i * D, (i + 1) * D)); at the end y + out.bias, if defined.
//! after: A gate g_h in front of A_h W_O^h is all that chapter 11 needs to ask what a head is
//!   worth, and leaving out a summand is what chapter 12 calls pruning.
// Exercise 06/3, sum_of_heads: what each head adds to the output.
#include "3_sum_of_heads.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor sum_of_heads(const Tensor& heads, const Linear& out) {
  Tensor y;  // undefined until the first head is there
  for (Index i = 0; i < heads.dim(1); ++i) {
    //! solution
    const Index d = heads.dim(3);
    const Tensor found = reshape(slice(heads, 1, i, i + 1), {heads.dim(0), heads.dim(2), d});
    const Tensor share = linear(found, slice(out.weight, 1, i * d, (i + 1) * d));
    //! skeleton
    // const Tensor share = chapter::todo("A_i W_O^i, [B, T, C]");
    //! mistake rows_of_wo: W_O's rows were taken; a head owns columns of W_O
    //- const Tensor share = linear(found, slice(out.weight, 1, i * d, (i + 1) * d));
    //+ const Tensor share = linear(found, transpose(slice(out.weight, 0, i * d, (i + 1) * d)));
    //! mistake bias_each: the output bias is there once for every head, 4 times: it belongs to no
    //!   head
    // const Index d = heads.dim(3);
    // const Tensor found = reshape(slice(heads, 1, i, i + 1), {heads.dim(0), heads.dim(2), d});
    // const Tensor share = linear(found, slice(out.weight, 1, i * d, (i + 1) * d), out.bias);
    //! mistake same_columns: every head was multiplied by the columns of head 0
    //- const Tensor share = linear(found, slice(out.weight, 1, i * d, (i + 1) * d));
    //+ const Tensor share = linear(found, slice(out.weight, 1, 0, d));
    //! wrong cut_by_the_width: right with all heads, wrong after head 1 was removed
    //- const Index d = heads.dim(3);
    //+ const Index d = out.weight.dim(0) / heads.dim(1);
    //! mistake last_head_only: only the last head is there: each one replaced the one before, where
    //!   += adds
    //  const Tensor share = linear(found, slice(out.weight, 1, i * d, (i + 1) * d));
    //+ y = Tensor();
    //! end
    y = y.defined() ? y + share : share;
  }
  //! solution
  return out.bias.defined() ? y + out.bias : y;
  //! skeleton
  // return chapter::todo("the sum and b_O, if the layer has one");
  //! mistake bias_each: the output bias is there once for every head
  // return y;
  //! mistake no_bias: the output bias is missing
  // return y;
  //! mistake mean_of_heads: the sum was divided by the number of heads
  // return y / Real(heads.dim(1)) + out.bias;
  //! wrong always_a_bias: a layer without biases
  // return y + out.bias;
  //! wrong not_recorded: the result is not recorded on the tape
  // return (out.bias.defined() ? y + out.bias : y).detach();
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
