// The additive bias of attention's scores: a table, or a slope for each head.
#pragma once

#include "kernels/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

/// s_j += bias_ij for the first `keys` keys of one row of scores. `head` counts the plan's heads.
void add_score_bias(const AttentionPlan& plan, Index b, Index head, Index query, Index keys,
                    Real* s);

/// dbias_ij += ds_j, or dslope -= sum_j |i + first_query - j| ds_j. `dbias` has the bias's shape.
void add_score_bias_gradient(const AttentionPlan& plan, Index b, Index head, Index query,
                             Index keys, const Real* ds, Real* dbias);

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
