// The metric first_token.
#include "importance/metrics/row_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A head without anything to do often attends to the first token (an attention sink).
class FirstToken : public RowMetric {
  double of_row(const MapRow& row) const override { return double(row.weights.front()); }
};

}  // namespace

MetricEntry metric_first_token() {
  return {{.name = "first_token",
           .formula = "E p_i0",
           .source = "Guo et al. 2024; Sandoval-Segura et al. 2025: heads with a sink are dormant",
           .keep_low = true,
           .cost = "F"},
          [] { return std::make_unique<FirstToken>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
