// Metrics that need no examples: controls and properties of the weights.
#include <cmath>

#include "headroom/base/rng.hpp"
#include "importance/metrics/families.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A function of the model.
class ModelMetric : public HeadMetric {
 public:
  using Measure = std::vector<double> (*)(const MetricSubject&);
  explicit ModelMetric(Measure measure) : measure_(measure) {}
  void begin(const MetricSubject& subject) override { scores_ = measure_(subject); }
  std::vector<double> scores() const override { return scores_; }

 private:
  Measure measure_;
  std::vector<double> scores_;
};

/// The same in every layout, since the draws depend on the heads' names only.
std::vector<double> drawn_scores(const MetricSubject& subject) {
  std::vector<double> scores;
  for (const HeadId& head : subject.heads) {
    scores.push_back(double(Rng(subject.seed, "random importance of " + head.text()).uniform()));
  }
  return scores;
}

std::vector<double> layer_numbers(const MetricSubject& subject) {
  std::vector<double> layers;
  for (const HeadId& head : subject.heads) layers.push_back(double(head.layer));
  return layers;
}

double magnitude_of(const HeadShare& share) {
  double squares = 0;
  for (const HeadRole role : {HeadRole::query, HeadRole::key, HeadRole::value, HeadRole::output}) {
    const auto found = share.value.find(role);
    if (found == share.value.end()) continue;  // SharedHead has one projection for all heads
    for (const Real weight : found->second.span()) squares += double(weight) * double(weight);
  }
  return std::sqrt(squares);
}

std::vector<double> magnitudes(const MetricSubject& subject) {
  std::vector<double> norms;
  for (const NamedAttention& found : attentions(subject.model)) {
    for (const Index head : found.attention->alive()) {
      norms.push_back(magnitude_of(share_of(found, head)));
    }
  }
  return norms;
}

}  // namespace

std::vector<MetricEntry> control_metrics() {
  return {
      metric_of<ModelMetric>({.name = "random",
                              .formula = "U(0, 1), drawn by seed and head",
                              .source = "control",
                              .cost = "0"},
                             drawn_scores),
      metric_of<ModelMetric>({.name = "depth",
                              .formula = "number of the layer; the last layers go first",
                              .source = "control; HARP 2025, arXiv 2507.01900",
                              .keep_low = true,
                              .cost = "0"},
                             layer_numbers),
      metric_of<ModelMetric>({.name = "magnitude",
                              .formula = "sqrt of the sum of squares of W_Q, W_K, W_V and W_O of h",
                              .source = "Han et al. 2015, for whole heads",
                              .cost = "0"},
                             magnitudes),
  };
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
