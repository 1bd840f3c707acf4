// Row statistics of attention weights. They need the scores only, and no tape.
#include "headroom/base/op_scope.hpp"
#include "headroom/ops/attention.hpp"
#include "kernels/attention.hpp"
#include "ops/attention_check.hpp"
#include "ops/attention_plan.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

AttentionRows attention_rows(const HeadColumns& query, const HeadColumns& key, Index heads,
                             Index head_dim, const AttentionOptions& options) {
  OpScope op("attention rows");
  AttentionOptions before_dropout = options;
  before_dropout.dropout = 0;
  // The statistics do not depend on values: the keys take their part in the checks.
  const AttentionSizes sizes =
      check_attention(query, key, key, heads, head_dim, head_dim, before_dropout);
  const kernels::AttentionPlan plan = attention_plan(sizes, before_dropout);
  const Shape shape{sizes.batch, heads, sizes.queries};
  AttentionRows rows{Array(shape), Array(shape), Array(shape), Ids(shape)};
  if (profiling()) {
    const Index read = sizes.batch * heads * head_dim * (sizes.queries + sizes.keys);
    op.work(product_flops(plan, head_dim), double((read + 3 * shape.size()) * Index{sizeof(Real)} +
                                                  shape.size() * Index{sizeof(std::int32_t)}));
  }
  const auto columns = [](const HeadColumns& of) {
    const Array& source = of.source.value();
    return kernels::HeadRows{source.data() + of.first, source.dim(-1)};
  };
  kernels::attention_rows(
      plan, columns(query), columns(key),
      {rows.log_sum_exp.data(), rows.entropy.data(), rows.maximum.data(), rows.allowed.data()});
  return rows;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
