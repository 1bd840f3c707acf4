//! title: FusedHeads::head_slices
//! replaces: headroom::FusedHeads::head_slices
//! minutes: 15
//! difficulty: 1
//! path: short
//! needs: 07/1
//! hint: in_proj_weight holds all queries, then all keys, then all values. How many rows come
//!   before the first key? Does that number change when a head is removed?
//! hint: For live head number i and third t (0 queries, 1 keys, 2 values), the slice is D rows of
//!   in_proj_weight and D elements of in_proj_bias. Its head is alive()[i], which is not i once a
//!   head was removed. The output slice is D indices of out_proj.weight along axis 1.
//! hint: begin = t * live() * head_dim() + i * head_dim(), end = begin + head_dim(). The output
//!   slice is [i D, (i + 1) D), without t. With bias, one more slice at the end: output_bias,
//!   of_none, out_proj.bias, all of it.
//! after: Transplant, pruning, the optimizers' blocks and the pages know a layout only by this
//!   function. The library's own also handles layers whose keys have another width.
// Exercise 12/1, FusedHeads::head_slices: what belongs to whom.
#include "1_head_slices.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::vector<HeadSlice> FusedHeads::head_slices() const {
  const HeadRole weights[] = {HeadRole::query, HeadRole::key, HeadRole::value};
  const HeadRole biases[] = {HeadRole::query_bias, HeadRole::key_bias, HeadRole::value_bias};
  std::vector<HeadSlice> slices;
  const Index d = head_dim();
  for (Index i = 0; i < live(); ++i) {
    //! solution
    const Index head = alive()[static_cast<std::size_t>(i)];
    //! skeleton
    // const Index head = chapter::todo("head: the original number of live head number i");
    //! wrong renumbered: the heads were numbered anew
    // const Index head = i;
    //! end
    for (Index third = 0; third < 3; ++third) {
      //! solution
      const Index begin = third * live() * d + i * d;
      //! skeleton
      // const Index begin = chapter::todo("begin: the first row of this head in this third");
      //! mistake first_third_only: keys and values were looked for among the queries: each third
      //!   has its own rows
      // const Index begin = i * d;
      //! mistake original_offsets: the original number of the head was taken for its place:
      //!   positions are among the live heads
      // const Index begin = third * live() * d + head * d;
      //! mistake original_thirds: the thirds had their original length: with each removed head the
      //!   thirds became shorter, by D rows
      // const Index begin = third * config().heads * d + i * d;
      //! mistake never_removed: heads were never removed: both the place in a third and its length
      //!   are as in the beginning
      // const Index begin = third * config().heads * d + head * d;
      //! mistake head_by_head: the rows of a head were expected next to each other: all queries
      //!   come first, then all keys
      // const Index begin = (3 * i + third) * d;
      //! end
      //! solution
      if (in_proj_weight.defined()) {
        slices.push_back({weights[third], head, "in_proj_weight", 0, begin, begin + d});
      } else {  // keys of another width have a matrix for each third; the exercise leaves it out
        const char* const own[] = {"q_proj_weight", "k_proj_weight", "v_proj_weight"};
        slices.push_back({weights[third], head, own[third], 0, i * d, (i + 1) * d});
      }
      //! skeleton
      // slices.push_back({weights[third], head, "in_proj_weight", 0, begin, begin + d});
      //! end
      //! solution
      if (config().bias) {
        slices.push_back({biases[third], head, "in_proj_bias", 0, begin, begin + d});
      }
      //! skeleton
      // if (config().bias) slices.push_back(chapter::todo("this part of in_proj_bias", biases));
      //! wrong forgets_the_bias: the query biases of head 0 should have a slice, and have none
      // static_cast<void>(biases);
      //! end
    }
    //! solution
    slices.push_back({HeadRole::output, head, "out_proj.weight", 1, i * d, (i + 1) * d});
    //! skeleton
    // slices.push_back(chapter::todo("this head's part of out_proj.weight"));
    //! wrong rows_of_out: a head owns columns of the output matrix
    // slices.push_back({HeadRole::output, head, "out_proj.weight", 0, i * d, (i + 1) * d});
    //! wrong output_in_thirds: The output columns are not packed in thirds
    // slices.push_back({HeadRole::output, head, "out_proj.weight", 1, 2 * live() * d + i * d,
    //                   2 * live() * d + (i + 1) * d});
    //! end
  }
  //! solution
  if (config().bias) {
    slices.push_back(
        {HeadRole::output_bias, HeadSlice::of_none, "out_proj.bias", 0, 0, config().width});
  }
  //! skeleton
  // if (config().bias) slices.push_back(chapter::todo("out_proj.bias, which belongs to no head"));
  //! wrong bias_without_owner: the output bias is missing
  //! wrong bias_of_a_head: the output bias belongs to no head
  // if (config().bias) {
  //   slices.push_back({HeadRole::output_bias, 0, "out_proj.bias", 0, 0, config().width});
  // }
  //! end
  return slices;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
