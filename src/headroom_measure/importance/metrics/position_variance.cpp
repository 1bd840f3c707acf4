// The metric position_variance.
#include "importance/metrics/row_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

class PositionVariance : public RowMetric {
  double of_row(const MapRow& row) const override {
    const auto count = double(row.allowed);
    double squares = 0;
    for (const Real weight : row.weights) squares += double(weight) * double(weight);
    return squares / count - 1 / (count * count);  // the mean of the weights is 1 / count
  }
};

}  // namespace

MetricEntry metric_position_variance() {
  return {{.name = "position_variance",
           .formula = "E Var_j p_ij over the allowed keys j",
           .source = "a proposal of public threads; where all rows are equally long, it ranks as "
                     "attention_l2",
           .cost = "F"},
          [] { return std::make_unique<PositionVariance>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
