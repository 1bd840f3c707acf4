//! title: channel_of
//! replaces: headroom::channel_of
//! minutes: 10
//! difficulty: 1
//! needs: 07/1
//! hint: Two heads with three features each. Write the six channels in both orders.
//! hint: The element (i, j) of a matrix [rows, columns] is element i * columns + j in memory. Which
//!   of head and d is the row?
//! hint: blocked: head * head_dim + d. Interleaved: d * heads + head.
//! after: export_attention and import_attention, which call your function, write and read the
//!   weights of PyTorch, BERT, GPT-2 and a TensorFlow layer.
// Exercise 07/4, channel_of: two orders of the same channels.
#include "4_channel_of.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Index channel_of(HeadOrder order, Index head, Index d, Index heads, Index head_dim) {
  //! solution
  if (order == HeadOrder::blocked) return head * head_dim + d;
  return d * heads + head;
  //! skeleton
  // return chapter::todo("the channel, in both orders");
  //! wrong exchanged: the two orders were exchanged
  // if (order == HeadOrder::interleaved) return head * head_dim + d;
  // return d * heads + head;
  //! mistake right_for_square: the stride of a feature is head_dim: right where heads = head_dim,
  //!   wrong elsewhere
  // if (order == HeadOrder::blocked) return head * head_dim + d;
  // return d * head_dim + head;
  //! wrong one_order: the order was ignored
  // return head * head_dim + d;
  //! mistake stride_of_heads: the stride of a head is the number of heads: right where heads =
  //!   head_dim, wrong elsewhere
  // if (order == HeadOrder::blocked) return head * heads + d;
  // return d * heads + head;
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
