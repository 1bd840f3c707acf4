// The metric gradient_norms.
#include <cmath>

#include "importance/metrics/share_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

double gradient_norms(const HeadShare& share) {
  double product = 1;
  for (const HeadRole role : {HeadRole::query, HeadRole::key, HeadRole::value}) {
    const auto gradient = share.gradient.find(role);
    if (gradient == share.gradient.end()) return 0;
    double squares = 0;
    for (const Real g : gradient->second.span()) squares += double(g) * double(g);
    product *= std::sqrt(squares);
  }
  return product;
}

}  // namespace

MetricEntry metric_gradient_norms() {
  return {{.name = "gradient_norms",
           .formula = "|dL/dW_Q^h| |dL/dW_K^h| |dL/dW_V^h|, L the mean loss",
           .source = "Guo and Sheridan 2026 (Greedy-Gnorm), arXiv 2602.04491, measured once",
           .cost = "B"},
          [] { return std::make_unique<MeanShareMetric<gradient_norms, HeadRole::query>>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
