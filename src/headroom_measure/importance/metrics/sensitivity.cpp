// The metric sensitivity.
#include <cmath>

#include "importance/metrics/gate_gradient_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The absolute value is taken for each example: gradients of other signs do not
/// cancel, but those of the tokens of one example do.
double absolute(double gradient) { return std::abs(gradient); }

}  // namespace

MetricEntry metric_sensitivity() {
  return {{.name = "sensitivity",
           .formula = "E_x |dL(x)/dg_h|",
           .source = "Michel, Levy and Neubig 2019, equation 2",
           .cost = "B"},
          [] { return std::make_unique<GateGradientMetric<absolute>>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
