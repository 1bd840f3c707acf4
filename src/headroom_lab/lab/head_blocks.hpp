// The parameters of a layer head by head in any layout: values, gradients, changes. Private.
#pragma once

#include <map>
#include <utility>

#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The blocks of every head, by role and head. The output bias belongs to no head and is left out.
using HeadBlocks = std::map<std::pair<HeadRole, Index>, Array>;

/// Copies of all blocks of a layer. Missing gradients count as zeros.
HeadBlocks head_values(Attention& layer);
HeadBlocks head_gradients(Attention& layer);
/// Writes the given blocks; the others keep their values.
void set_head_values(Attention& layer, const HeadBlocks& blocks);
/// Sets the blocks of one role to zero in all heads.
void set_to_zero(Attention& layer, HeadRole role);

/// Multiplies all gradients of one head.
void scale_gradient(Attention& layer, Index head, Real factor);

/// after - before, block by block; both have the same blocks.
HeadBlocks change(const HeadBlocks& before, const HeadBlocks& after);
/// Euclidean norm of all blocks of one head.
double norm_of_head(const HeadBlocks& blocks, Index head);
/// max |a - b| over all blocks of one head.
double largest_difference(const HeadBlocks& a, const HeadBlocks& b, Index head);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
