// Log-probabilities and checks shared by greedy decoding, sampling and beam search. Private to the
// nn floor.
#pragma once

#include <span>

#include "headroom/nn/decoding.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Row b of logits [B, V].
std::span<const Real> row_of(const Array& logits, Index b);
/// Returns log sum_v e^logit_v. Throws NumericError unless it is finite.
double log_sum_exp(std::span<const Real> logits);
/// Throws UsageError for invalid limits or if the first `tokens` tokens exceed the room.
void check_room(const Writer& writer, Index tokens, const DecodingLimits& limits);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
