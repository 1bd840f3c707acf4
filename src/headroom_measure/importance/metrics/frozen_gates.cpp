// The metric frozen_gates.
#include "importance/metrics/recorded_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

MetricEntry metric_frozen_gates() {
  return {{.name = "frozen_gates",
           .formula = "gate of the head, learned with an L1 penalty while the model is frozen",
           .source = "He, Zhang and Sun 2017; DuoAttention, Xiao et al. 2024",
           .cost = "training"},
          [] { return std::make_unique<RecordedMetric>("frozen_gates"); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
