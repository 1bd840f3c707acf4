//! title: AttentionMask::key_limit
//! replaces: headroom::AttentionMask::key_limit
//! minutes: 10
//! difficulty: 1
//! path: short
//! hint: j <= i says which is the last key that query i may see. How many keys is that?
//! hint: Begin with limit = keys. Each condition that is there can only make it smaller. What can
//!   make it negative?
//! hint: Causal: std::min(limit, i + *causal_offset_ + 1). Lengths: lengths_[b], or
//!   lengths_[b * lengths_.dim(1) + i] if the rank is 2. In the end std::max<Index>(limit, 0).
//! after: Kernels like this number: they compute the scores of `limit` keys and never touch the
//!   rest. A mask of bytes would be read for every score.
// Exercise 05/3, key_limit: how far a query may look.
#include "3_key_limit.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Index AttentionMask::key_limit(Index b, Index i, Index keys) const {
  //! solution
  Index limit = keys;
  if (causal_offset_) limit = std::min(limit, i + *causal_offset_ + 1);
  if (lengths_.defined()) {
    const Index length = lengths_.rank() == 1 ? lengths_[b] : lengths_[b * lengths_.dim(1) + i];
    limit = std::min(limit, length);
  }
  return std::max<Index>(limit, 0);
  //! skeleton
  // return chapter::todo("the number of keys, from key 0 on, that query i may see");
  //! mistake blind_to_itself: query 0 sees nobody: a token may see itself, so its limit is one more
  //!   than its position
  //- if (causal_offset_) limit = std::min(limit, i + *causal_offset_ + 1);
  //+ if (causal_offset_) limit = std::min(limit, i + *causal_offset_);
  //! mistake one_too_far: every query sees the token after it, which is the answer in a language
  //!   model
  //- if (causal_offset_) limit = std::min(limit, i + *causal_offset_ + 1);
  //+ if (causal_offset_) limit = std::min(limit, i + *causal_offset_ + 2);
  //! mistake mask_ignored: the mask was ignored
  //- if (causal_offset_) limit = std::min(limit, i + *causal_offset_ + 1);
  //! mistake from_the_end: the limit was counted from the last key: it should be right for any
  //!   number of keys
  //- if (causal_offset_) limit = std::min(limit, i + *causal_offset_ + 1);
  //+ if (causal_offset_) limit = keys - 4 + i + *causal_offset_ + 1;
  //! mistake no_offset: the offset was ignored: it is right without a cache. With 3 keys in the
  //!   cache, query 0 is token 3 of the text, and sees 4 keys
  //- if (causal_offset_) limit = std::min(limit, i + *causal_offset_ + 1);
  //+ if (causal_offset_) limit = std::min(limit, i + 1);
  //! mistake above_keys: the limit became more than `keys`
  //- if (causal_offset_) limit = std::min(limit, i + *causal_offset_ + 1);
  //+ if (causal_offset_) limit = i + *causal_offset_ + 1;
  //! mistake either_or: one of the two conditions was enough: a key must be allowed by both
  // if (!causal_offset_ && !lengths_.defined()) return keys;
  // Index limit = 0;
  // if (causal_offset_) limit = std::clamp<Index>(i + *causal_offset_ + 1, 0, keys);
  // if (lengths_.defined()) {
  //   const Index length = lengths_.rank() == 1 ? lengths_[b] : lengths_[b * lengths_.dim(1) + i];
  //   limit = std::max(limit, std::min(keys, length));
  // }
  // return limit;
  //! mistake lengths_last: one of the two conditions was ignored: the causal one
  //- limit = std::min(limit, length);
  //+ limit = length;
  //! mistake causal_alone: one of the two conditions was ignored: the lengths
  //- if (lengths_.defined()) {
  //+ if (!causal_offset_ && lengths_.defined()) {
  //! mistake lengths_ignored: the lengths were ignored
  //- limit = std::min(limit, length);
  //+ limit = std::min(limit, length + keys);
  //! mistake last_key: the length was taken for the last key; it is the number of keys
  //- limit = std::min(limit, length);
  //+ limit = std::min(limit, length + 1);
  //! mistake length_of_query: the lengths were read by query: lengths_[b] is that of the example
  //- const Index length = lengths_.rank() == 1 ? lengths_[b] : lengths_[b * lengths_.dim(1) + i];
  //+ const Index length = lengths_.rank() == 1 ? lengths_[i] : lengths_[b * lengths_.dim(1) + i];
  //! mistake example_0: the lengths were read by query, those of example 0 for all
  //- const Index length = lengths_.rank() == 1 ? lengths_[b] : lengths_[b * lengths_.dim(1) + i];
  //+ const Index length = lengths_.rank() == 1 ? lengths_[b] : lengths_[i];
  //! mistake one_rank: the lengths of each query were read as if there was one for each example:
  //!   lengths_.rank() is 2 here
  //- const Index length = lengths_.rank() == 1 ? lengths_[b] : lengths_[b * lengths_.dim(1) + i];
  //+ const Index length = lengths_[b];
  //! mistake below_zero: the limit became less than 0; then there is no key to see, and it is 0
  //- return std::max<Index>(limit, 0);
  //+ return limit;
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
