// The plan of the attention kernels from an attention's sizes and options.
#pragma once

#include "headroom/ops/attention.hpp"
#include "kernels/attention.hpp"
#include "ops/attention_check.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Fills in the plan of an attention that check_attention() has checked.
kernels::AttentionPlan attention_plan(const AttentionSizes& sizes, const AttentionOptions& options);

/// Floating-point operations of a product over `width` columns for every pair of query and key
/// within the limits, in all heads.
double product_flops(const kernels::AttentionPlan& plan, Index width);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
