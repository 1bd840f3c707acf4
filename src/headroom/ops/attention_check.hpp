// Checks that fused and composed attention share.
#pragma once

#include <vector>

#include "headroom/ops/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The sizes of an attention, with the defaults of its options filled in.
struct AttentionSizes {
  Index batch, heads, queries, keys, head_dim, value_dim;
  Real scale;
  std::vector<Index> original_heads;
};

/// Throws ShapeError when the sources, the mask or the heads do not fit together, UsageError for a
/// dropout that is not a probability.
AttentionSizes check_attention(const HeadColumns& query, const HeadColumns& key,
                               const HeadColumns& value, Index heads, Index head_dim,
                               Index value_dim, const AttentionOptions& options);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
