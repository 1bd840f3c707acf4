// The metric value_path.
#include <cmath>

#include "importance/metrics/share_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

double value_path(const HeadShare& share) {
  return std::abs(scaling_gradient(share, HeadRole::output));
}

}  // namespace

MetricEntry metric_value_path() {
  return {{.name = "value_path",
           .formula = "E |<W_O^h, dL/dW_O^h>|, L the mean loss of a batch (at most 64 examples)",
           .source = "Yang et al. 2022 (TextPruner); by Euler's identity it is "
                     "sensitivity_per_batch",
           .cost = "B"},
          [] { return std::make_unique<BatchShareMetric<value_path, HeadRole::output>>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
