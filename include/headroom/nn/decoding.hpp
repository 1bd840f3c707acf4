// Decoding: from a model's next-symbol logits to sequences; greedy, by beam, by sampling.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "headroom/nn/models.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A model in the middle of writing B sequences: give it the newest symbols, get the logits of the
/// next. Writers run under NoGrad and need a model in eval mode, whose parameters must stay as they
/// are while it writes.
class Writer {
 public:
  virtual ~Writer() = default;
  /// Appends ids [B, n] and returns the logits after the last of them, [B, V]. Throws ShapeError
  /// when they do not fit into room().
  virtual Array next(const Ids& ids) = 0;
  /// Sequence b becomes the former sequence rows[b], with its source. There may be fewer rows than
  /// before: the others are forgotten. Throws UsageError for a row that does not exist.
  virtual void reorder(std::span<const Index> rows) = 0;
  /// Number of sequences, and how many positions are still free.
  virtual Index batch() const = 0;
  virtual Index room() const = 0;
  /// Makes room beyond the model's longest sequence: goes on as if only the newer half of the
  /// symbols had been written. False where that is impossible.
  virtual bool slide() { return false; }
};

/// Encodes the sources [B, Ts] of lengths [B] (each repeated `copies` times in a row, for beams)
/// and gets ready to write. With a cache each position is computed once; without, everything anew
/// at every step. The writer refers to the model. Throws UsageError for a model in training mode.
std::unique_ptr<Writer> make_writer(const Seq2Seq& model, const Ids& source,
                                    const Ids& source_lengths, Index copies = 1, bool cache = true);
/// The same for `batch` texts. It can slide.
std::unique_ptr<Writer> make_writer(const LanguageModel& model, Index batch, bool cache = true);

/// Where sequences begin and end.
struct DecodingLimits {
  std::int32_t begin = 0;  // fed first
  std::int32_t end = -1;   // a sequence that writes it is done; -1: none
  Index longest = 64;      // most symbols written
};

/// One written sequence, without begin and end symbols.
struct Written {
  std::vector<std::int32_t> ids;
  double log_probability = 0;  // of the symbols written, the end symbol included
  bool finished = false;       // the end symbol was written
};

/// The likeliest symbol at every step, the lowest id of equals. Sequences that are done leave the
/// writer. Stops early when neither room() nor slide() give another position.
/// Throws UsageError for a writer without room, NumericError for NaN logits.
std::vector<Written> greedy(Writer& writer, const DecodingLimits& limits);

/// Extends the `width` likeliest unfinished prefixes at every step, and sets aside those candidates
/// among the best `width` that write the end symbol, until `width` of them are finished. For each
/// example its finished sequences, best first by log_probability / length^length_penalty (length
/// with the end symbol), then the unfinished ones if the limit came first. At most `width` each;
/// width 1 is greedy. Sutskever et al. 2014, section 3.2; the penalty is that of Wu et al. 2016,
/// section 7, in its plain form.
/// The writer must hold `width` copies of each example in a row. Throws as greedy().
std::vector<std::vector<Written>> beam_search(Writer& writer, Index width,
                                              const DecodingLimits& limits,
                                              Real length_penalty = 1);

struct SamplingOptions {
  Real temperature = 1;  // logits are divided by it; 0 is greedy
  Index top_k = 0;       // only the k likeliest, the lowest ids of equals; 0: all
  Real top_p = 1;        // of those only the likeliest that together reach a share p of them.
                         // Holtzman et al. 2020, section 3.1
};

/// Sees the symbols of one step as they come, one per sequence, -1 for those that are done.
using StepListener = std::function<void(const std::vector<std::int32_t>&)>;

/// Draws each symbol from the softmax of logits / temperature, cut off as the options say; one
/// number of `rng` per symbol. `prompt` [B, n] is fed first in place of limits.begin when defined.
/// log_probability is that of the model itself, at temperature 1 and without cut-off.
/// Throws UsageError for options out of range or a prompt without symbols or without room, and as
/// greedy().
std::vector<Written> sample(Writer& writer, const DecodingLimits& limits,
                            const SamplingOptions& options, Rng& rng, const Ids& prompt = {},
                            const StepListener& each = {});

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
