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
  //! wrong blind_to_itself: query 0 sees nobody
  //- if (causal_offset_) limit = std::min(limit, i + *causal_offset_ + 1);
  //+ if (causal_offset_) limit = std::min(limit, i + *causal_offset_);
  //! wrong one_too_far: every query sees the token after it
  //- if (causal_offset_) limit = std::min(limit, i + *causal_offset_ + 1);
  //+ if (causal_offset_) limit = std::min(limit, i + *causal_offset_ + 2);
  //! wrong no_offset: the offset was ignored
  //- if (causal_offset_) limit = std::min(limit, i + *causal_offset_ + 1);
  //+ if (causal_offset_) limit = std::min(limit, i + 1);
  //! wrong either_or: one of the two conditions was enough
  // if (!causal_offset_ && !lengths_.defined()) return keys;
  // Index limit = 0;
  // if (causal_offset_) limit = std::clamp<Index>(i + *causal_offset_ + 1, 0, keys);
  // if (lengths_.defined()) {
  //   const Index length = lengths_.rank() == 1 ? lengths_[b] : lengths_[b * lengths_.dim(1) + i];
  //   limit = std::max(limit, std::min(keys, length));
  // }
  // return limit;
  //! wrong lengths_last: one of the two conditions was ignored
  // Index limit = keys;
  // if (causal_offset_) limit = std::min(limit, i + *causal_offset_ + 1);
  // if (lengths_.defined()) {
  //   limit = lengths_.rank() == 1 ? lengths_[b] : lengths_[b * lengths_.dim(1) + i];
  // }
  // return std::clamp<Index>(limit, 0, keys);
  //! wrong length_of_query: the lengths were read by query
  //- const Index length = lengths_.rank() == 1 ? lengths_[b] : lengths_[b * lengths_.dim(1) + i];
  //+ const Index length = lengths_.rank() == 1 ? lengths_[i] : lengths_[b * lengths_.dim(1) + i];
  //! wrong one_rank: the lengths of each query were read as if there was one for each example
  // Index limit = keys;
  // if (causal_offset_) limit = std::min(limit, i + *causal_offset_ + 1);
  // if (lengths_.defined()) limit = std::min<Index>(limit, lengths_[b]);
  // return std::max<Index>(limit, 0);
  //! wrong below_zero: less than 0
  //- return std::max<Index>(limit, 0);
  //+ return limit;
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
