// The metric attention_l2.
#include <cmath>

#include "importance/metrics/row_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

class AttentionL2 : public RowMetric {
 public:
  std::vector<double> scores() const override {
    std::vector<double> roots = RowMetric::scores();
    for (double& root : roots) root = std::sqrt(root);
    return roots;
  }

 private:
  double of_row(const MapRow& row) const override {
    double squares = 0;
    for (const Real weight : row.weights) squares += double(weight) * double(weight);
    return squares;
  }
};

}  // namespace

MetricEntry metric_attention_l2() {
  return {{.name = "attention_l2",
           .formula = "sqrt(E sum_j p_ij^2)",
           .source = "a proposal of public threads",
           .cost = "F"},
          [] { return std::make_unique<AttentionL2>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
