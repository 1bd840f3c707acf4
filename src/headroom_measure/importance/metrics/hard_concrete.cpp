// The metric hard_concrete.
#include "importance/metrics/recorded_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

MetricEntry metric_hard_concrete() {
  return {{.name = "hard_concrete",
           .formula = "ln alpha of the head's hard concrete gate",
           .source = "Louizos, Welling and Kingma 2018; Voita et al. 2019",
           .cost = "training"},
          [] { return std::make_unique<RecordedMetric>("hard_concrete"); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
