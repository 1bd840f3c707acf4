// The plan of the attention kernels: limits, masks, bias and dropout streams of every head.
#include "ops/attention_plan.hpp"

#include "headroom/ops/dropout.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

Ids key_limits(const AttentionMask& mask, const AttentionSizes& sizes) {
  // [B, Tq]
  Ids limits(Shape{sizes.batch, sizes.queries});
  for (Index b = 0; b < sizes.batch; ++b) {
    for (Index i = 0; i < sizes.queries; ++i) {
      limits[b * sizes.queries + i] = static_cast<std::int32_t>(mask.key_limit(b, i, sizes.keys));
    }
  }
  return limits;
}

}  // namespace

kernels::AttentionPlan attention_plan(const AttentionSizes& sizes,
                                      const AttentionOptions& options) {
  kernels::AttentionPlan plan{.batch = sizes.batch,
                              .heads = sizes.heads,
                              .queries = sizes.queries,
                              .keys = sizes.keys,
                              .head_dim = sizes.head_dim,
                              .value_dim = sizes.value_dim,
                              .scale = sizes.scale,
                              .limits = key_limits(options.mask, sizes),
                              .limits_differ = !options.mask.limit_is_uniform(),
                              .allowed = options.mask.allowed_bytes(),
                              .allowed_at = {},
                              .dropout = options.dropout,
                              .streams = {},
                              .first_query = options.first_query};
  if (plan.allowed.defined()) {
    for (Index b = 0; b < sizes.batch; ++b) {
      for (const Index head : sizes.original_heads) {
        plan.allowed_at.push_back(options.mask.allowed_row(b, head, 0) - plan.allowed.data());
      }
    }
  }
  if (options.score_bias.defined()) {
    plan.score_bias = options.score_bias.value();
    const int rank = plan.score_bias.rank();
    const Index matrix = rank == 1 ? 1 : sizes.queries * sizes.keys;
    for (Index b = 0; b < sizes.batch; ++b) {
      const Index example = rank == 4 ? b * plan.score_bias.dim(1) : 0;
      for (const Index head : sizes.original_heads) {
        plan.score_bias_at.push_back((example + head) * matrix);
      }
    }
  }
  if (options.dropout > 0) {
    for (const Index head : sizes.original_heads) {
      plan.streams.push_back(mask_stream(options.module, head));
    }
  }
  return plan;
}

double product_flops(const kernels::AttentionPlan& plan, Index width) {
  double pairs = 0;
  for (const std::int32_t limit : plan.limits.span()) pairs += limit;
  return 2 * pairs * double(plan.heads * width);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
