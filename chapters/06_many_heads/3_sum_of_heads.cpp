//! title: sum_of_heads
//! minutes: 15
//! difficulty: 2
//! needs: 06/2
//! hint: The concatenated heads are multiplied by W_O. Which columns of W_O does feature d of
//!   head i meet? And how often does the formula contain b_O?
//! hint: For each live head: its output [B, T, D], its columns of W_O [C, D], one linear without a
//!   bias. Add the results, and b_O once.
//! hint: The share of head i is linear(reshape(slice(heads, 1, i, i + 1), {B, T, D}),
//!   slice(layer.out.weight, 1, i * D, (i + 1) * D)); at the end y + layer.out.bias, if defined.
//! after: A gate g_h in front of A_h W_O^h is all that chapter 11 needs to ask what a head is
//!   worth, and leaving out a summand is what chapter 12 calls pruning.
// Exercise 06/3, sum_of_heads: what each head adds to the output.
#include "3_sum_of_heads.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor sum_of_heads(const SeparateHeads& layer, const Tensor& x) {
  AttentionAsk ask;
  ask.head_out = true;
  const Tensor heads = layer(x, x, x, AttentionMask::none(), ask).head_out;  // [B, live, T, D]
  const auto live = Index(layer.alive().size());
  const Index d = layer.head_dim();

  Tensor y;  // undefined until the first head is there
  for (Index i = 0; i < live; ++i) {
    //! solution
    const Tensor found = reshape(slice(heads, 1, i, i + 1), {x.dim(0), x.dim(1), d});
    const Tensor columns = slice(layer.out.weight, 1, i * d, (i + 1) * d);
    const Tensor share = linear(found, columns);
    //! skeleton
    // const Tensor share = chapter::todo("A_i W_O^i, [B, T, C]");
    //! wrong rows_of_wo: W_O's rows were taken; a head owns columns
    // const Tensor found = reshape(slice(heads, 1, i, i + 1), {x.dim(0), x.dim(1), d});
    // const Tensor rows = slice(layer.out.weight, 0, i * d, (i + 1) * d);
    // const Tensor share = linear(found, transpose(rows));
    //! wrong bias_each: the output bias is there once for every head
    // const Tensor found = reshape(slice(heads, 1, i, i + 1), {x.dim(0), x.dim(1), d});
    // const Tensor columns = slice(layer.out.weight, 1, i * d, (i + 1) * d);
    // const Tensor share = linear(found, columns, layer.out.bias);
    //! wrong same_columns: every head was multiplied by the columns of head 0
    // const Tensor found = reshape(slice(heads, 1, i, i + 1), {x.dim(0), x.dim(1), d});
    // const Tensor share = linear(found, slice(layer.out.weight, 1, 0, d));
    //! wrong by_number: right with all heads, wrong after head 1 was removed
    // const Index head = layer.alive()[std::size_t(i)];
    // const Tensor found = reshape(slice(heads, 1, i, i + 1), {x.dim(0), x.dim(1), d});
    // const Tensor share = linear(found, slice(layer.out.weight, 1, head * d, (head + 1) * d));
    //! end
    y = y.defined() ? y + share : share;
  }
  //! solution
  return layer.out.bias.defined() ? y + layer.out.bias : y;
  //! skeleton
  // return chapter::todo("the sum and b_O, if the layer has one");
  //! wrong bias_each: the output bias is there once for every head
  // return y;
  //! wrong no_bias: the output bias is missing
  // return y;
  //! wrong mean_of_heads: the sum was divided by the number of heads
  // return y / Real(live) + layer.out.bias;
  //! wrong always_a_bias: a layer without biases
  // return y + layer.out.bias;
  //! wrong not_recorded: the result is not recorded on the tape
  // return (layer.out.bias.defined() ? y + layer.out.bias : y).detach();
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
