// What a trained model's heads look at while it reads and writes one text, as a record.
#pragma once

#include <optional>
#include <string>

#include "headroom/base/record.hpp"
#include "headroom/train/checkpoint.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// What to look at: a text, and what the model is to have made of it.
struct AttentionQuestion {
  std::string input{};
  std::optional<std::string> output{};  // left out: what the model itself writes, greedily
  Index write = 32;                     // most symbols that a language model writes
};

/// Reads the input, lets the model write its output (or takes the given one as if it had), and
/// keeps the weights of every live head. Works for every kind of model, in any layout, pruned or
/// not:
/// ```
/// { "kind": "attend",
///   "model": {"task": "dates", "family": "seq2seq", "layout": "fused", "parameters": 242560,
///             "heads": 24, "alive": 12, "longest": 40},
///   "input": "3rd of May, 2021", "write": 32,       // "output" too when it was given
///   "heads": [{"kind": "cross", "layer": 0, "head": 2, "removed": false}],   // all, in order
///   "example": {...},      // as in report/report.hpp: source, target, decoder_input, maps
///   "answer": {"text": "2021-05-03", "probability": 0.98, "finished": true},
///   "ids": {"source": [7, 40], "target_in": [1, 5], "target": [5, 2]} }
/// ```
/// Special symbols are shown as ^ (begin) and $ (end). An encoder-decoder reads `source` and
/// writes `target`; row i of its decoder's maps belongs to the writing of target[i] after
/// decoder_input[i]. A language model has no source: decoder_input is the input and what was
/// written but for the last symbol, target the same without the first. A classifier has a source
/// only; its answer is {"text": "balanced", "probability": 0.99, "classes": [{"name",
/// "probability"}]}. `probability` is that of the whole answer, or of the classifier's class.
/// Throws UsageError for a text that is empty, too long or has a symbol that the model does not
/// know, and for an output where the model writes none; DataError for malformed UTF-8.
Record attention_record(const SavedModel& saved, const AttentionQuestion& question);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
