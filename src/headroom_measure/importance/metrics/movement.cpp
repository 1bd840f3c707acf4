// The metric movement.
#include "importance/metrics/recorded_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

MetricEntry metric_movement() {
  return {
      {.name = "movement",
       .formula = "-sum over the training steps of <W_O^h, dL/dW_O^h>",
       .source = "Sanh, Wolf and Rush 2020, for whole heads, without the learning rate's factor",
       .cost = "0"},
      [] { return std::make_unique<RecordedMetric>("movement"); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
