// The metric shapley.
#include "importance/metrics/all_subsets_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

MetricEntry metric_shapley() {
  return {{.name = "shapley",
           .formula = "mean of v(S) - v(S + h) over all orders, S the heads before h",
           .source = "Shapley 1953",
           .cost = "2^N F"},
          [] { return std::make_unique<AllSubsetsMetric<exact_shapley>>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
