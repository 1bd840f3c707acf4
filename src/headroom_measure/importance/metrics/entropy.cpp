// The metric entropy.
#include <cmath>

#include "importance/metrics/row_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A row with one allowed key has no choice, and counts as 0.
class Entropy : public RowMetric {
  double of_row(const MapRow& row) const override {
    return row.allowed == 1 ? 0 : row.entropy / std::log(double(row.allowed));
  }
};

}  // namespace

MetricEntry metric_entropy() {
  return {{.name = "entropy",
           .formula = "E H(p_i) / ln(allowed keys)",
           .source = "Voita et al. 2019; low entropy counts as important",
           .keep_low = true,
           .cost = "F"},
          [] { return std::make_unique<Entropy>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
