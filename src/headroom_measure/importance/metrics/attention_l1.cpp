// The metric attention_l1.
#include <cmath>

#include "importance/metrics/row_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A constant, kept to show that it is one: the weights of a row sum to 1.
class AttentionL1 : public RowMetric {
  double of_row(const MapRow& row) const override {
    double sum = 0;
    for (const Real weight : row.weights) sum += std::abs(double(weight));
    return sum;
  }
};

}  // namespace

MetricEntry metric_attention_l1() {
  return {{.name = "attention_l1",
           .formula = "E sum_j p_ij",
           .source = "a proposal of public threads; it is 1 for every head",
           .cost = "F"},
          [] { return std::make_unique<AttentionL1>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
