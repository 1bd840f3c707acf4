// The metric entropy_and_sensitivity.
#include <algorithm>

#include "importance/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The values, shifted and scaled to [0, 1]; equal ones give 0.
std::vector<double> scaled(std::vector<double> values) {
  if (values.empty()) return values;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double from = *least, width = *most - *least;
  for (double& value : values) value = width > 0 ? (value - from) / width : 0;
  return values;
}

class EntropyAndSensitivity : public HeadMetric {
 public:
  MetricNeeds needs() const override {
    MetricNeeds both = entropy_->needs();
    return both |= sensitivity_->needs();
  }
  void see(const Evidence& batch) override {
    entropy_->see(batch);
    sensitivity_->see(batch);
  }
  std::vector<double> scores() const override {
    std::vector<double> scores = scaled(sensitivity_->scores());
    const std::vector<double> entropy = scaled(entropy_->scores());
    for (std::size_t h = 0; h < scores.size(); ++h) scores[h] = (scores[h] + 1 - entropy[h]) / 2;
    return scores;
  }

 private:
  std::unique_ptr<HeadMetric> entropy_ = metric_entropy().make();
  std::unique_ptr<HeadMetric> sensitivity_ = metric_sensitivity().make();
};

}  // namespace

MetricEntry metric_entropy_and_sensitivity() {
  return {{.name = "entropy_and_sensitivity",
           .formula = "(s + 1 - H) / 2, sensitivity s and entropy H each scaled to [0, 1] over the "
                      "heads",
           .source = "after Choi et al. 2025 (HIES), arXiv 2510.13832, with equal weights",
           .cost = "B"},
          [] { return std::make_unique<EntropyAndSensitivity>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
