// Attention of a single query, as when a text is generated token by token.
#pragma once

#include "kernels/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

/// True when one_query_attention() serves this: one query, a mask by lengths alone, no dropout,
/// heads of whole SIMD batches.
bool is_one_query(const AttentionPlan& plan);

/// The same as attention(), Tq = 1. Here the time goes into reading keys and values, so they are
/// read in their order in memory, all heads of an example together, instead of head by head.
void one_query_attention(const AttentionPlan& plan, HeadRows query, HeadRows key, HeadRows value,
                         Real* y, Real* log_sum_exp);

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
