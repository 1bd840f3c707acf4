//! title: find the mistake: the head that was half removed
//! minutes: 15
//! difficulty: 2
//! needs: 12/2
//! mistake: the scores were multiplied by another scale
//! hint: The contract makes two promises, and each mistake breaks one of them. Which numbers of
//!   the forward pass depend on the number of heads, and should they?
//! hint: Before the removal, x.dim(2) / layer.heads is D. Afterwards it is not. And which of the
//!   four parameters is no longer the tensor that the optimizer holds?
//! hint: The scale is attention_scale(D) with D = rows / layer.heads. Every parameter keeps its
//!   tensor: set_value(), also for out_weight.
//! after: Where a parameter cannot change its shape, the optimizer must be given the new tensors.
//!   Here every holder of a tensor sees its new value.
// Exercise 12/4: a small attention layer whose heads can be removed.
#include "4_surgery.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor attend(const SmallAttention& layer, const Tensor& x) {
  const Index rows = layer.in_weight.dim(0) / 3, head_dim = rows / layer.heads;
  const Tensor qkv = linear(x, layer.in_weight, layer.in_bias);
  AttentionOptions options;
  //! solution
  options.scale = attention_scale(head_dim);
  //! skeleton
  // options.scale = attention_scale(x.dim(2) / layer.heads);
  //! wrong only_the_tensor: the scores were multiplied by another scale
  // options.scale = attention_scale(x.dim(2) / layer.heads);
  //! wrong scale_of_all: the scores were multiplied by another scale
  // options.scale = attention_scale(rows);
  //! end
  const Tensor heads =
      attention({qkv, 0}, {qkv, rows}, {qkv, 2 * rows}, layer.heads, head_dim, head_dim, options);
  return linear(heads, layer.out_weight, layer.out_bias);
}

void remove_heads(SmallAttention& layer, const std::vector<Index>& positions) {
  const Index rows = layer.in_weight.dim(0) / 3, head_dim = rows / layer.heads;
  std::vector<Index> columns, all_rows;  // of W_O, and of the three thirds
  for (Index head = 0; head < layer.heads; ++head) {
    if (std::find(positions.begin(), positions.end(), head) != positions.end()) continue;
    for (Index i = head * head_dim; i < (head + 1) * head_dim; ++i) columns.push_back(i);
  }
  for (Index third = 0; third < 3; ++third) {
    for (const Index i : columns) all_rows.push_back(third * rows + i);
  }
  layer.in_weight.set_value(gather(layer.in_weight.value(), 0, all_rows));
  layer.in_bias.set_value(gather(layer.in_bias.value(), 0, all_rows));
  //! solution
  layer.out_weight.set_value(gather(layer.out_weight.value(), 1, columns));
  //! skeleton
  // layer.out_weight = parameter(gather(layer.out_weight.value(), 1, columns));
  //! wrong only_the_scale: out_weight never moves
  // layer.out_weight = parameter(gather(layer.out_weight.value(), 1, columns));
  //! wrong a_constant: out_weight is a constant now
  // layer.out_weight = Tensor(gather(layer.out_weight.value(), 1, columns));
  //! wrong rows_of_out: rows of out_weight were cut
  // layer.out_weight.set_value(gather(layer.out_weight.value(), 0, columns));
  //! end
  layer.heads -= Index(positions.size());
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
