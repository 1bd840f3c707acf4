// One mask of every kind, for experiments that must hold under all of them. Private.
#pragma once

#include <string>
#include <vector>

#include "headroom/base/rng.hpp"
#include "headroom/ops/attention_mask.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

struct NamedMask {
  std::string name;
  AttentionMask mask;
};

/// No mask; causal; valid lengths, all keys for the first example and fewer for the others;
/// arbitrary bytes for every head with at least one key allowed in each row; and such bytes with
/// rows in which nothing is allowed, head 0's first of every example among them.
std::vector<NamedMask> every_mask_kind(Index batch, Index heads, Index queries, Index keys,
                                       Rng& rng);

/// Number of keys that each row may attend to, [B, H, Tq] in one list.
std::vector<Index> allowed_keys(const AttentionMask& mask, Index batch, Index heads, Index queries,
                                Index keys);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
