// The common part of metrics that are a mean over examples of a function of the gate's gradient.
#pragma once

#include "importance/metrics/example_mean.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// E_x f(dL(x)/dg_h).
template <double (*f)(double)>
class GateGradientMetric : public ExampleMean {
 public:
  MetricNeeds needs() const override { return {.gate_gradients = true}; }

 private:
  void add(const Evidence& batch, std::size_t head, double& sum) const override {
    for (Index b = 0; b < batch.examples; ++b) {
      sum += f(element(batch, batch.gate_gradients, b, head));
    }
  }
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
