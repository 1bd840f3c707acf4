// The metric taylor.
#include "importance/metrics/gate_gradient_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The rise of the loss that a straight line through g = 1 predicts for g = 0. It may be negative.
double negative(double gradient) { return -gradient; }

}  // namespace

MetricEntry metric_taylor() {
  return {{.name = "taylor",
           .formula = "-E_x dL(x)/dg_h",
           .source = "Molchanov et al. 2017, with the sign kept",
           .cost = "B"},
          [] { return std::make_unique<GateGradientMetric<negative>>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
