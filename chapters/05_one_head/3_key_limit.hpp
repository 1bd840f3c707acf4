// Exercise 05/3: write the number of keys that a query may see.
//
//   Index AttentionMask::key_limit(Index b, Index i, Index keys) const
//
// Query i of example b may see the keys 0 to limit - 1. (A mask may hide more keys by other means.)
// Two conditions decide, each of which may be there or not, and both must allow a key:
//
//   causal_offset_    a std::optional<Index>. If it is set, key j is allowed when
//                     j <= i + *causal_offset_. The offset is the number of keys before query 0:
//                     0 as a rule, the length of a cache in decoding
//   lengths_          Ids. If lengths_.defined(), key j is allowed when j < the length. It has one
//                     length per example, [B], or one per query, [B, Tq]: lengths_.rank() is 1 or
//                     2, and element (b, i) of the second is lengths_[b * lengths_.dim(1) + i]
//
// The limit is at least 0 and at most `keys`.
#pragma once

#include "common/answer.hpp"
#include "headroom/ops/attention_mask.hpp"
