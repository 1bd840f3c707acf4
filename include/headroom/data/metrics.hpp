// Metrics that compare predictions with accepted answers.
#pragma once

#include <cstdint>
#include <span>

#include "headroom/data/vocabulary.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Sums over predictions, and the error rates computed from them. For phonemes, token_error_rate()
/// is the PER and word_error_rate() the WER.
struct SequenceScore {
  Index answers = 0;
  Index exact = 0;             // equal to one of the accepted answers
  Index edits = 0;             // to the nearest accepted answer (the first of equally near ones)
  Index reference_length = 0;  // tokens of those nearest answers

  /// Throws UsageError if there is no accepted answer.
  void add(std::span<const std::int32_t> answer, std::span<const Tokens> accepted);

  /// Fractions in [0, 1] (error rates may exceed 1); 0 without predictions.
  double exact_match() const;
  double token_error_rate() const;
  double word_error_rate() const;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
