// The common part of metrics that are a mean over examples of a function of the gate's gradient.
#pragma once

#include "heads/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// E_x f(dL(x)/dg_h).
template <double (*f)(double)>
class GateGradientMetric : public HeadMetric {
 public:
  MetricNeeds needs() const override { return {.gate_gradients = true}; }
  void see(const Evidence& batch) override {
    const std::size_t count = batch.heads.size();
    sums_.resize(count);
    for (Index b = 0; b < batch.examples; ++b) {
      for (std::size_t h = 0; h < count; ++h) {
        sums_[h] += f(double(batch.gate_gradients[b * Index(count) + Index(h)]));
      }
    }
    examples_ += batch.examples;
  }
  std::vector<double> scores() const override {
    std::vector<double> means = sums_;
    for (double& mean : means) mean /= double(examples_);
    return means;
  }

 private:
  std::vector<double> sums_;
  Index examples_ = 0;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
