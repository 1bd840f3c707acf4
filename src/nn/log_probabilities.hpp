// What greedy decoding, sampling and beam search share. Private to the nn floor.
#pragma once

#include <span>

#include "headroom/nn/decoding.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Row b of logits [B, V].
std::span<const Real> row_of(const Array& logits, Index b);
/// log sum_v e^logit_v. Throws NumericError unless it is finite.
double log_sum_exp(std::span<const Real> logits);
/// Throws UsageError unless the limits make sense and the first `symbols` fit into the writer.
void check_room(const Writer& writer, Index symbols, const DecodingLimits& limits);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
