// The metric confidence.
#include "heads/metrics/row_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

class Confidence : public RowMetric {
  double of_row(const MapRow& row) const override { return row.maximum; }
};

}  // namespace

MetricEntry metric_confidence() {
  return {
      {.name = "confidence", .formula = "E max_j p_ij", .source = "Voita et al. 2019, section 3"},
      [] { return std::make_unique<Confidence>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
