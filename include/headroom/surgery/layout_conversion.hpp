// Conversion: the weights of an attention in the layouts of other implementations, and back.
#pragma once

#include <map>
#include <string>

#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// How other implementations store the four projections of multi-head attention. With n live heads
/// of width D, input width C and biases unless said otherwise:
///
/// * `pytorch` (torch.nn.MultiheadAttention): in_proj_weight [3nD, C] with query, key and value one
///   below the other, in_proj_bias [3nD], out_proj.weight [C, nD], out_proj.bias [C]. Where keys or
///   values have another width: q_proj_weight [nD, C], k_proj_weight [nD, Ck], v_proj_weight
///   [nD, Cv] in place of in_proj_weight.
/// * `bert` (BertAttention of Hugging Face Transformers): three Linears, self.query.weight [nD, C],
///   self.query.bias [nD], likewise self.key and self.value, and output.dense.weight [C, nD],
///   output.dense.bias [C].
/// * `gpt2` (GPT2Attention of the same): a Conv1D computes x W + b, so its weight is the transpose
///   of a Linear's. c_attn.weight [C, 3nD] with query, key and value side by side, c_attn.bias
///   [3nD], c_proj.weight [nD, C], c_proj.bias [C].
/// * `bart` (BartAttention and MarianAttention of the same): four Linears, q_proj.weight [nD, C],
///   q_proj.bias [nD], likewise k_proj and v_proj, and out_proj.weight [C, nD], out_proj.bias [C].
/// * `summae` (transformer.py of google-research/summae, the summarisation transformer of Liu and
///   others 2019): four TensorFlow Dense kernels, transposed like GPT-2's and without biases:
///   q_proj/kernel, k_proj/kernel, v_proj/kernel [C, nD] and output_proj/kernel [nD, C].
enum class ForeignLayout { pytorch, bert, gpt2, bart, summae };

/// Which of the nD channels of a projection is channel d of the i-th live head: `blocked` i D + d,
/// from splitting the axis into [n, D], as all implementations above do; `interleaved` d n + i,
/// from splitting it into [D, n]. Both compute the same function when input and output projections
/// agree.
enum class HeadOrder { blocked, interleaved };

/// The channel, of heads * head_dim, that holds feature d of head number `head`.
Index channel_of(HeadOrder order, Index head, Index d, Index heads, Index head_dim);

using NamedArrays = std::map<std::string, Array>;

/// The parameters of an attention (SeparateHeads or FusedHeads) in another layout, as copies.
/// Removed heads are omitted: the arrays hold the n live heads in ascending original order, as
/// after prune_heads of BERT and GPT-2. Without heads n = 0. Throws UsageError for an attention
/// that the layout cannot hold: a SharedHead, biases in `summae` or their absence in `bert` and
/// `gpt2`, keys or values of another width in `gpt2`.
NamedArrays export_attention(Attention& attention, ForeignLayout layout,
                             HeadOrder order = HeadOrder::blocked);

/// The names and shapes of those arrays. Throws what export_attention() throws.
std::map<std::string, Shape> foreign_shapes(const Attention& attention, ForeignLayout layout);

/// Exports the gradients in the same way. Throws UsageError also when a parameter has none.
NamedArrays export_gradients(Attention& attention, ForeignLayout layout,
                             HeadOrder order = HeadOrder::blocked);

/// Copies another implementation's parameters into an attention (SeparateHeads or FusedHeads),
/// exactly. `arrays` hold its live heads and nothing else: to read the weights of a pruned model,
/// prune the same heads first. Nothing changes unless everything fits. Throws UsageError naming an
/// array that is missing or left over, and for what export_attention cannot hold; ShapeError for
/// one of another shape.
void import_attention(const NamedArrays& arrays, Attention& attention, ForeignLayout layout,
                      HeadOrder order = HeadOrder::blocked);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
