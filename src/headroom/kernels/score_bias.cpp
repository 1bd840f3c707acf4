// One row of a score bias, and of its gradient.
#include "kernels/score_bias.hpp"

#include <cmath>

#include "headroom/base/at.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

namespace {

bool is_slope(const AttentionPlan& plan) { return plan.score_bias.rank() == 1; }

/// Where the slope of a head, or its row of a table, is in the bias.
Index bias_at(const AttentionPlan& plan, Index b, Index head, Index query) {
  const Index first = at(plan.score_bias_at, b * plan.heads + head);
  return is_slope(plan) ? first : first + query * plan.keys;
}

/// |position - j|, exact for all lengths that fit into memory.
inline Real distance(Real position, std::int32_t j) { return std::abs(position - Real(j)); }

}  // namespace

void add_score_bias(const AttentionPlan& plan, Index b, Index head, Index query, Index keys,
                    Real* s) {
  const Real* const bias = plan.score_bias.data() + bias_at(plan, b, head, query);
  const auto count = static_cast<std::int32_t>(keys);
  if (is_slope(plan)) {
    const Real slope = *bias, position = Real(plan.first_query + query);
#pragma omp simd
    for (std::int32_t j = 0; j < count; ++j) s[j] -= slope * distance(position, j);
  } else {
#pragma omp simd
    for (std::int32_t j = 0; j < count; ++j) s[j] += bias[j];
  }
}

void add_score_bias_gradient(const AttentionPlan& plan, Index b, Index head, Index query,
                             Index keys, const Real* ds, Real* dbias) {
  Real* const sum = dbias + bias_at(plan, b, head, query);
  const auto count = static_cast<std::int32_t>(keys);
  if (is_slope(plan)) {
    const Real position = Real(plan.first_query + query);
    Real total = 0;
#pragma omp simd reduction(+ : total)
    for (std::int32_t j = 0; j < count; ++j) total += distance(position, j) * ds[j];
    *sum -= total;
  } else {
#pragma omp simd
    for (std::int32_t j = 0; j < count; ++j) sum[j] += ds[j];
  }
}

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
