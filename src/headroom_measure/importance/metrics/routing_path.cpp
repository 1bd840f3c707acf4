// The metric routing_path.
#include <cmath>

#include "importance/metrics/share_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// <S, dL/dS> for the head's scores S, which are linear in W_Q and b_Q together: the change of the
/// loss when the attention gets sharper.
double routing_path(const HeadShare& share) {
  return std::abs(scaling_gradient(share, HeadRole::query) +
                  scaling_gradient(share, HeadRole::query_bias));
}

}  // namespace

MetricEntry metric_routing_path() {
  return {{.name = "routing_path",
           .formula = "E |<W_Q^h, dL/dW_Q^h> + <b_Q^h, dL/db_Q^h>|, L the mean loss of a batch (at "
                      "most 64 examples)",
           .source = "headroom: the counterpart of value_path for the scores",
           .cost = "B"},
          [] { return std::make_unique<BatchShareMetric<routing_path, HeadRole::query>>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
