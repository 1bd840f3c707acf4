// The metric confidence.
#include "importance/metrics/row_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Voita et al. leave out the end symbol as a key. Here it never is one: sources have no end
/// symbol, and the decoder's inputs begin with <bos> and do not contain <eos>.
class Confidence : public RowMetric {
  double of_row(const MapRow& row) const override { return row.maximum; }
};

}  // namespace

MetricEntry metric_confidence() {
  return {{.name = "confidence",
           .formula = "E max_j p_ij",
           .source = "Voita et al. 2019, section 3",
           .cost = "F"},
          [] { return std::make_unique<Confidence>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
