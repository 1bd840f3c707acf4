// The metric sensitivity_per_token.
#include <cmath>

#include "importance/metrics/example_mean.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Gradients of other signs at several tokens of an example do not cancel. So it is at least as
/// large as sensitivity, which is at least as large as sensitivity_per_batch.
class SensitivityPerToken : public ExampleMean {
 public:
  MetricNeeds needs() const override { return {.token_gate_gradients = true}; }

 private:
  void add(const Evidence& batch, std::size_t head, double& sum) const override {
    for (const Real gradient : batch.token_gate_gradients[head].span()) {
      sum += std::abs(double(gradient));
    }
  }
};

}  // namespace

MetricEntry metric_sensitivity_per_token() {
  return {{.name = "sensitivity_per_token",
           .formula = "E_x sum_t |dL(x)/dg_ht|, with a gate for each query t",
           .source = "Michel, Levy and Neubig 2019, equation 2, with the absolute value per token",
           .cost = "B"},
          [] { return std::make_unique<SensitivityPerToken>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
