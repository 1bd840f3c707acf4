// Outputs of heads.
#include "importance/metrics/output_metric.hpp"

#include <algorithm>

#include "headroom/algebra/algebra.hpp"
#include "importance/metrics/own_block.hpp"
#include "importance/metrics/real_queries.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

void OutputMetric::begin(const MetricSubject& subject) {
  absent_ = missing_block(subject, HeadRole::output);
  if (!absent_.empty()) return;
  for (const NamedAttention& found : attentions(subject.model)) {
    for (const Index head : found.attention->alive()) {
      matrices_.push_back(share_of(found, head).value.at(HeadRole::output));
    }
  }
}

Array OutputMetric::outputs(const Evidence& batch, std::size_t head) {
  const HeadId& id = batch.heads[head];
  const Array& all = batch.probe.seen.at({id.kind, id.layer}).head_out.value();  // [B, live, Tq, D]
  const Index live = all.dim(1), queries = all.dim(2), width = all.dim(3);
  Index rows = 0;
  for (Index b = 0; b < batch.examples; ++b) rows += real_queries(batch, id.kind, b, queries);
  Array some({rows, width});
  Real* to = some.data();
  for (Index b = 0; b < batch.examples; ++b) {
    const Real* from = all.data() + (b * live + batch.row_of_head[head]) * queries * width;
    to = std::copy_n(from, real_queries(batch, id.kind, b, queries) * width, to);
  }
  return some;
}

Array OutputMetric::contributions(const Evidence& batch, std::size_t head) const {
  return matmul(outputs(batch, head), transposed(matrix(head)));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
