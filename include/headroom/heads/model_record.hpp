// A small model as a record with its weights in half precision, so that a page can carry it.
#pragma once

#include "headroom/base/record.hpp"
#include "headroom/train/checkpoint.hpp"

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
///                   "score_bias": {"shape": [4], "half": "..."}}] }   // where there is one
/// ```
/// A score bias is over the original heads, slopes [H] or a table [H, longest, longest].
/// The bytes are little-endian halves, row by row; a tied parameter is listed once, under the first
/// of its names. The slices are those of Attention::head_slices(), so that a reader needs to
/// know no layout. Throws as round_to_half().
Record model_record(const SavedModel& saved);

/// The same, with how far rounding the weights moved the model on the example of an
/// attention_record(): "logits" [rows][symbols] of the rounded model, and "rounding", the maximum
/// |difference| of a logit from the model's own. Rounds the model for good. For a model of more
/// than `most_bytes` bytes of halves, or with weights beyond them, {"left_out": "the reason"}
/// alone, also for attentions with parameters that are particular to their layout.
Record page_model_record(const SavedModel& saved, const Record& seen,
                         Index most_bytes = Index{4} << 20);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
