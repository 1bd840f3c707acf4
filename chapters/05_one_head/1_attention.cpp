//! title: composed::attention
//! replaces: headroom::composed::attention
//! minutes: 15
//! difficulty: 1
//! path: short
//! hint: The row of query i has one number for each key. Which two vectors is each of these numbers
//!   made of? And what is averaged in the end?
//! hint: scores [B, H, Tq, Tk] from q [B, H, Tq, D] and k [B, H, Tk, D]: the inner axis of the
//!   product must be D, so k has to be transposed. Then each row becomes weights. Then
//!   head_out [B, H, Tq, Dv] is the product of weights [B, H, Tq, Tk] and v [B, H, Tk, Dv].
//! hint: scores = matmul(q, transpose(k)) * sizes.scale; maps = masked_softmax(biased, allowed);
//!   head_out = matmul(dropped, v).
//! after: These are the lines that print every map of this course: whoever asks for a map gets this
//!   version, src/headroom/ops/composed_attention.cpp, because here the map is a tensor.
// Exercise 05/1, attention out of other operations.
#include "1_attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace composed {

Attention attention(const HeadColumns& query, const HeadColumns& key, const HeadColumns& value,
                    Index heads, Index head_dim, Index value_dim, const AttentionOptions& options) {
  const chapter::Sizes sizes =
      chapter::check_attention(query, key, value, heads, head_dim, value_dim, options);
  const Tensor q = split_heads(query, heads, head_dim);   // [B, H, Tq, D]
  const Tensor k = split_heads(key, heads, head_dim);     // [B, H, Tk, D]
  const Tensor v = split_heads(value, heads, value_dim);  // [B, H, Tk, Dv]
  const Bytes allowed =                                   // [B, H, Tq, Tk]
      options.mask.bytes(sizes.batch, sizes.original_heads, sizes.queries, sizes.keys);

  //! solution
  const Tensor scores = headroom::matmul(q, transpose(k)) * sizes.scale;
  //! skeleton
  // const Tensor scores = chapter::todo("the scaled scores [B, H, Tq, Tk]");
  //! mistake no_scale: the scores were not scaled. A sum of D products grows with sqrt(D)
  // const Tensor scores = headroom::matmul(q, transpose(k));
  //! mistake scale_of_width: the scores were scaled by the width of all heads; sizes.scale is that
  //!   of one
  // const Tensor scores = headroom::matmul(q, transpose(k)) * attention_scale(heads * head_dim);
  //! mistake divided_by_d: the scores were divided by D, not by its root
  // const Tensor scores = headroom::matmul(q, transpose(k)) / Real(head_dim);
  //! mistake times_root: the scores were multiplied by sqrt(D), not divided
  // const Tensor scores = headroom::matmul(q, transpose(k)) / attention_scale(head_dim);
  //! mistake own_scale: options.scale was ignored: sizes.scale is it, or 1/sqrt(D) if it is not set
  // const Tensor scores = headroom::matmul(q, transpose(k)) * attention_scale(head_dim);
  //! end
  const Tensor biased = chapter::with_score_bias(scores, sizes, options);

  //! solution
  const Tensor maps = headroom::masked_softmax(biased, allowed);
  //! skeleton
  // const Tensor maps = chapter::todo("the weights [B, H, Tq, Tk]");
  //! mistake over_queries: the softmax ran over the queries: columns of the map sum to 1. Each
  //!   query spreads a weight of 1 over the keys, so it is the rows that must
  // const Tensor maps = transpose(headroom::softmax(transpose(biased)));
  //! mistake no_softmax: the scores were taken for the weights: the softmax is missing
  // const Tensor maps = biased;
  //! mistake mask_ignored: the mask was ignored: a key that is not allowed must get the weight 0
  // const Tensor maps = headroom::softmax(biased);
  //! wrong map_off_the_tape: no gradient arrived at query
  // const Tensor maps = headroom::masked_softmax(biased, allowed).detach();
  //! end
  const Tensor dropped = chapter::with_dropout(maps, sizes, options);

  //! solution
  const Tensor head_out = headroom::matmul(dropped, v);
  //! skeleton
  // const Tensor head_out = chapter::todo("the averages of the values, [B, H, Tq, Dv]");
  //! mistake keys_for_values: the averages were made of keys. The map is right; what it averages
  //!   are the values
  // const Tensor head_out = headroom::matmul(dropped, k);
  //! wrong without_dropout: right without dropout, wrong with it
  // const Tensor head_out = headroom::matmul(maps, v);
  //! end
  return {merge_heads(head_out), maps, head_out};
}

}  // namespace composed
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
