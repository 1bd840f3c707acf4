// The metric logit_jacobian.
#include "importance/metrics/example_mean.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The mean of |dz(x)/dg_h|^2, since E (u'v)^2 = |v|^2. The logits depend on the head even where
/// the loss is 0 and its gradient vanishes.
class LogitJacobian : public ExampleMean {
 public:
  MetricNeeds needs() const override { return {.logit_gradients = true}; }

 private:
  void add(const Evidence& batch, std::size_t head, double& sum) const override {
    for (Index b = 0; b < batch.examples; ++b) {
      const double gradient = element(batch, batch.logit_gradients, b, head);
      sum += gradient * gradient;
    }
  }
};

}  // namespace

MetricEntry metric_logit_jacobian() {
  return {{.name = "logit_jacobian",
           .formula = "E_x (d<u, z(x)>/dg_h)^2, z(x) the logits, u ~ N(0, I)",
           .source = "headroom: estimates E_x |dz(x)/dg_h|^2",
           .cost = "B"},
          [] { return std::make_unique<LogitJacobian>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
