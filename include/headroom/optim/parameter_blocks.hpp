// Parameter blocks: the units that a rule about whole tensors is applied to.
#pragma once

#include <string>
#include <vector>

#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The units that a rule about whole tensors (a trust ratio, a norm that is clipped, an
/// orthogonalisation) is applied to:
/// * `tensor`: a parameter as it is stored, so that FusedHeads' in_proj_weight is one and each of
///   SeparateHeads' query.3.weight is one;
/// * `projection`: each of W_Q, W_K, W_V, W_O, b_Q, b_K, b_V of an attention with all its live
///   heads, whether that is a third of a parameter or several parameters;
/// * `head`: one head's share of each of these. What a group of heads shares is one block.
/// With `tensor` the updates depend on the layout of the heads, with the others they do not.
/// Parameters without heads are whole in all three.
enum class Granularity { tensor, projection, head };

/// A range of the parameter with this full name.
struct BlockPart : AxisRange {
  std::string name;
};

/// Parts that belong together, one after the other along their common axis.
using ParameterBlock = std::vector<BlockPart>;

/// The blocks of a model; every element of a parameter is in exactly one. They follow from the
/// heads that are alive now.
std::vector<ParameterBlock> parameter_blocks(Module& model, Granularity granularity);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
