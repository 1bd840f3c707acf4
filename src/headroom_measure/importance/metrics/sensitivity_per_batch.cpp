// The metric sensitivity_per_batch.
#include <cmath>

#include "importance/metrics/example_mean.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Gradients of examples in one batch cancel, the more the larger the batches.
class SensitivityPerBatch : public ExampleMean {
 public:
  MetricNeeds needs() const override { return {.gate_gradients = true}; }

 private:
  void add(const Evidence& batch, std::size_t head, double& sum) const override {
    double gradient = 0;
    for (Index b = 0; b < batch.examples; ++b) {
      gradient += element(batch, batch.gate_gradients, b, head);
    }
    sum += std::abs(gradient);
  }
};

}  // namespace

MetricEntry metric_sensitivity_per_batch() {
  return {{.name = "sensitivity_per_batch",
           .formula = "E |dL/dg_h|, L the mean loss of a batch (at most 64 examples)",
           .source = "Michel, Levy and Neubig 2019, equation 2, with the absolute value per batch",
           .cost = "B"},
          [] { return std::make_unique<SensitivityPerBatch>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
