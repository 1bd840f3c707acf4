// Decoding: from a model's next-symbol logits to sequences; greedy, by beam, by sampling.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "headroom/nn/models.hpp"

namespace headroom::inline HEADROOM_PRECISION {

/// A model in the middle of writing B sequences: give it the newest symbols, get the logits of the
/// next. With a cache each position is computed once; without, everything anew at every step.
class Writer {
 public:
  virtual ~Writer() = default;
  /// Appends ids [B, n] and returns the logits after the last of them, [B, V].
  virtual Array next(const Ids& ids) = 0;
  /// Row b goes on from what row rows[b] has written.
  virtual void reorder(std::span<const Index> rows) = 0;
  /// Number of sequences, and how many positions are still free.
  virtual Index batch() const = 0;
  virtual Index room() const = 0;
};

/// Encodes the sources (each repeated `copies` times in a row, for beams) and gets ready to write.
std::unique_ptr<Writer> make_writer(const Seq2Seq& model, const Ids& source,
                                    const Ids& source_lengths, Index copies = 1, bool cache = true);
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

/// The likeliest symbol at every step, the lowest id of equals.
std::vector<Written> greedy(Writer& writer, const DecodingLimits& limits);

/// The `width` likeliest prefixes at every step; for each example its finished candidates, best
/// first, by log-probability / length^length_penalty. Wu et al. 2016, section 7, with their lp in
/// its plain form. The writer must hold `width` copies of each example.
std::vector<std::vector<Written>> beam_search(Writer& writer, Index width,
                                              const DecodingLimits& limits,
                                              Real length_penalty = 1);

struct SamplingOptions {
  Real temperature = 1;  // logits are divided by it; 0 is greedy
  Index top_k = 0;       // only the k likeliest; 0: all
  Real top_p = 1;  // only the likeliest that together reach p. Holtzman et al. 2020, section 3.1
};

/// Draws each symbol. `prompt` [B, n] is fed first in place of limits.begin when defined.
/// `each` sees every step's symbols as they come.
std::vector<Written> sample(Writer& writer, const DecodingLimits& limits,
                            const SamplingOptions& options, Rng& rng, const Ids& prompt = {},
                            const std::function<void(const std::vector<std::int32_t>&)>& each = {});

}  // namespace headroom::inline HEADROOM_PRECISION
