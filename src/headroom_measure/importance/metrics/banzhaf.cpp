// The metric banzhaf.
#include "importance/metrics/all_subsets_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

MetricEntry metric_banzhaf() {
  return {{.name = "banzhaf",
           .formula = "mean of v(S) - v(S + h) over all subsets S of the other heads",
           .source = "Banzhaf 1965",
           .cost = "2^N F"},
          [] { return std::make_unique<AllSubsetsMetric<exact_banzhaf>>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
