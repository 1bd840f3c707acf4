// Decoding: generates sequences from next-token logits by greedy search, beam search or sampling.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "headroom/nn/models.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Generates B sequences with a model: takes the newest tokens and returns the logits of the next.
/// Writers run under NoGrad and need a model in eval mode, whose parameters must not change in the
/// meantime.
class Writer {
 public:
  virtual ~Writer() = default;
  /// Appends ids [B, n] and returns the logits after the last of them, [B, V]. Throws ShapeError
  /// when they do not fit into room().
  virtual Array next(const Ids& ids) = 0;
  /// Sequence b becomes the former sequence rows[b], with its source. There may be fewer rows than
  /// before: the others are dropped. Throws UsageError for a row that does not exist.
  virtual void reorder(std::span<const Index> rows) = 0;
  /// Number of sequences, and how many positions are still free.
  virtual Index batch() const = 0;
  virtual Index room() const = 0;
  /// Makes room beyond the model's maximum length by dropping the older half of the tokens. Returns
  /// false if that is impossible.
  virtual bool slide() { return false; }
};

/// Encodes the sources [B, Ts] of lengths [B] (each repeated `copies` times in a row, for beams)
/// and returns a writer. With a cache each position is computed once; without one, every step
/// recomputes all positions. The writer refers to the model. Throws UsageError for a model in
/// training mode.
std::unique_ptr<Writer> make_writer(const Seq2Seq& model, const Ids& source,
                                    const Ids& source_lengths, Index copies = 1, bool cache = true);
/// The same for `batch` texts. It can slide.
std::unique_ptr<Writer> make_writer(const LanguageModel& model, Index batch, bool cache = true);

/// Where sequences begin and end.
struct DecodingLimits {
  std::int32_t begin = 0;   // fed first
  std::int32_t end = -1;    // finishes a sequence; -1: none
  std::int32_t never = -1;  // is not generated: the unknown token; -1: none
  Index longest = 64;       // maximum number of generated tokens
};

/// One generated sequence, without begin and end tokens.
struct Written {
  std::vector<std::int32_t> ids;
  double log_probability = 0;  // of the generated tokens, including the end token
  bool finished = false;       // the end token was generated
};

/// Generates the most probable token at every step (of equals, the lowest id). Removes finished
/// sequences from the writer. Stops early when neither room() nor slide() gives another position.
/// Throws UsageError for a writer without room, NumericError for NaN logits.
std::vector<Written> greedy(Writer& writer, const DecodingLimits& limits);

/// Extends the `width` most probable unfinished prefixes at every step, and sets aside the
/// candidates among the best `width` that end, until `width` of them are finished. Returns for each
/// example its finished sequences, best first by log_probability / length^length_penalty (the
/// length includes the end token), then the unfinished ones if the limit came first. At most
/// `width` each; width 1 is greedy. Sutskever et al. 2014, section 3.2; a simple form of the length
/// penalty of Wu et al. 2016, section 7.
/// The writer must hold `width` copies of each example in a row. Throws as greedy().
std::vector<std::vector<Written>> beam_search(Writer& writer, Index width,
                                              const DecodingLimits& limits,
                                              Real length_penalty = 1);

/// How sample() restricts the distribution of the next token.
struct SamplingOptions {
  Real temperature = 1;  // logits are divided by it; 0 is greedy
  Index top_k = 0;       // keeps the k most probable tokens (of equals, the lowest ids); 0: all
  Real top_p = 1;        // of those keeps the most probable ones that together reach a share p.
                         // Holtzman et al. 2020, section 3.1
};

/// Receives the tokens of each step, one per sequence, -1 for finished sequences.
using StepListener = std::function<void(const std::vector<std::int32_t>&)>;

/// Draws each token from the softmax of logits / temperature, restricted to top_k and top_p; takes
/// one number of `rng` per token. `prompt` [B, n], if defined, is fed first in place of
/// limits.begin. log_probability is the model's own, at temperature 1 and without restriction.
/// Throws UsageError for options out of range and for a prompt without tokens or without room, and
/// as greedy().
std::vector<Written> sample(Writer& writer, const DecodingLimits& limits,
                            const SamplingOptions& options, Rng& rng, const Ids& prompt = {},
                            const StepListener& each = {});

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
