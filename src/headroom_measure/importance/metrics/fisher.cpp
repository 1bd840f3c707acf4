// The metric fisher.
#include "importance/metrics/gate_gradient_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

double squared(double gradient) { return gradient * gradient; }

}  // namespace

MetricEntry metric_fisher() {
  return {{.name = "fisher",
           .formula = "E_x (dL(x)/dg_h)^2",
           .source = "Kwon et al. 2022, the diagonal",
           .cost = "B"},
          [] { return std::make_unique<GateGradientMetric<squared>>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
