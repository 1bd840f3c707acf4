// The check that a model can be exported, and the projections of an attention as matrices
// of its live heads, whatever its layout.
#pragma once

#include "headroom/surgery/layout_conversion.hpp"
#include "headroom/train/checkpoint.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Throws UsageError, naming it, for a model with parts that the exports do not write
/// (ModelVariant), and for the kinds that read text without an output.
void require_plain_model(const SavedModel& saved);

/// The parameters of an attention of L live heads under the names of torch.nn.MultiheadAttention:
/// in_proj_weight [3 L D, C], in_proj_bias [3 L D], out_proj.weight [C, L D], out_proj.bias [C],
/// without biases if the attention has none. The small matrices of SharedHead become blocks of
/// in_proj_weight, with a bias of zeros. Throws UsageError for the layout of another program, which
/// may compute more than projections.
NamedArrays plain_attention(Attention& attention);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
