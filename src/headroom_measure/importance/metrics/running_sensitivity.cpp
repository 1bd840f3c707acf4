// The metric running_sensitivity.
#include "importance/metrics/recorded_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

MetricEntry metric_running_sensitivity() {
  return {{.name = "running_sensitivity",
           .formula = "mean over the training steps of |<W_O^h, dL/dW_O^h>|, L the mean loss per "
                      "token of the step's batch",
           .source = "headroom: dL/dg_h by Euler's identity, from training's own gradients",
           .cost = "0"},
          [] { return std::make_unique<RecordedMetric>("running_sensitivity"); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
