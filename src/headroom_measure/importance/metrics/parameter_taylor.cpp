// The metric parameter_taylor.
#include <cmath>

#include "importance/metrics/share_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

double parameter_taylor(const HeadShare& share) {
  double sum = 0;
  for (const auto& [role, gradient] : share.gradient) {
    const Array& value = share.value.at(role);
    for (Index i = 0; i < value.size(); ++i) {
      sum += std::abs(double(value[i]) * double(gradient[i]));
    }
  }
  return sum;
}

}  // namespace

MetricEntry metric_parameter_taylor() {
  return {{.name = "parameter_taylor",
           .formula = "sum of |w dL/dw| over the parameters w of h, L the mean loss",
           .source = "Ma et al. 2023 (LLM-Pruner), first order, element by element",
           .cost = "B"},
          [] { return std::make_unique<MeanShareMetric<parameter_taylor, HeadRole::output>>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
