// A small model as a record with its weights in half precision, so that a page can carry it.
#pragma once

#include "headroom/heads/attention_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Rounds every parameter to the nearest value in half precision (base/half.hpp). Throws
/// NumericError naming the parameter that holds a value beyond 65,504.
void round_to_half(Module& model);

/// Everything that is needed to compute the model's forward pass:
/// ```
/// { "config": {...},                                    // ModelConfig::to_record()
///   "vocabularies": {"source": {...}, "target": {...}}, // or "tokens"; Vocabulary::record()
///   "classes": ["unbalanced", "balanced"],              // of a classifier
///   "parameters": [{"name": "output.weight", "shape": [17, 64], "half": "base64 ..."}],
///   "attentions": [{"path": "encoder.layers.0.self_attn", "kind": "encoder", "layer": 0,
///                   "head_dim": 16, "alive": [0, 2],
///                   "slices": [{"role": "query", "head": 2, "name": "in_proj_weight", "axis": 0,
///                               "begin": 16, "end": 32}],
///                   "score_bias": {"shape": [4], "half": "..."}}] }   // if there is one
/// ```
/// A score bias is over the original heads, slopes [H] or a table [H, longest, longest].
/// The bytes are little-endian halves, row by row; a tied parameter is listed once, under the first
/// of its names. The slices are those of Attention::head_slices(), so that a reader does not depend
/// on the layout. Throws as round_to_half().
Record model_record(const SavedModel& saved);

/// The same, with the effect of rounding the weights on the example of an attention_record():
/// "logits" [rows][tokens] of the rounded model, and "rounding", the maximum |difference| of a
/// logit from the unrounded model's. The model stays rounded. Returns only {"left_out": "the
/// reason"} for a model of more than `most_bytes` bytes of halves, with weights beyond their range,
/// or with parameters that are particular to a layout.
Record page_model_record(const SavedModel& saved, const AttentionRecord& seen,
                         Index most_bytes = Index{4} << 20);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
