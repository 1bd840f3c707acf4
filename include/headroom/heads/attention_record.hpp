// The attention weights of a trained model's heads on one text, as a record.
#pragma once

#include <optional>
#include <string>

#include "headroom/base/record.hpp"
#include "headroom/train/checkpoint.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// An input text, and the output whose attention is recorded.
struct AttentionQuestion {
  std::string input{};
  std::optional<std::string> output{};  // default: the model's output, decoded greedily
  Index write = 32;                     // most tokens that a language model generates
};

/// Runs the model on the input with its output (or the given one), and records the attention
/// weights of every live head. Works for every kind of model, in any layout, pruned or not:
/// ```
/// { "kind": "attend",
///   "model": {"task": "dates", "family": "seq2seq", "layout": "fused", "parameters": 242560,
///             "heads": 24, "alive": 12, "longest": 40},
///   "input": "3rd of May, 2021", "write": 32,       // "output" too when it was given
///   "heads": [{"kind": "cross", "layer": 0, "head": 2, "removed": false}],   // all, in order
///   "example": {...},      // as ExampleRecord: source, target, decoder_input, maps
///   "answer": {"text": "2021-05-03", "probability": 0.98, "finished": true},
///   "ids": {"source": [7, 40], "target_in": [1, 5], "target": [5, 2]} }
/// ```
/// Special tokens are shown as ^ (begin) and $ (end). An encoder-decoder reads `source` and
/// predicts `target`; row i of its decoder's maps belongs to the prediction of target[i] after
/// decoder_input[i]. A language model has no source: decoder_input is input and output without the
/// last token, target the same without the first token. A classifier has a source
/// only; its answer is {"text": "balanced", "probability": 0.99, "classes": [{"name",
/// "probability"}]}. `probability` is that of the whole answer, or of the classifier's class.
/// Throws UsageError for a text that is empty, too long or has a token that the model does not
/// know, and for an output where the model has none; DataError for malformed UTF-8.
Record attention_record(const SavedModel& saved, const AttentionQuestion& question);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
