// The metric subset.
#include "importance/metrics/recorded_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

MetricEntry metric_subset() {
  return {{.name = "subset",
           .formula = "w of the head in samples of k heads by w + Gumbel noise",
           .source = "Li, Cotterell and Sachan 2021",
           .cost = "training"},
          [] { return std::make_unique<RecordedMetric>("subset"); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
