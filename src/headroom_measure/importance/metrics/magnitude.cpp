// The metric magnitude.
#include <cmath>

#include "importance/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

class MagnitudeMetric : public HeadMetric {
 public:
  void begin(const MetricSubject& subject) override {
    for (const NamedAttention& found : attentions(subject.model)) {
      for (const Index head : found.attention->alive())
        norms_.push_back(norm(share_of(found, head)));
    }
  }
  std::vector<double> scores() const override { return norms_; }

 private:
  static double norm(const HeadShare& share) {
    double squares = 0;
    for (const HeadRole role :
         {HeadRole::query, HeadRole::key, HeadRole::value, HeadRole::output}) {
      const auto found = share.value.find(role);
      if (found == share.value.end()) continue;  // SharedHead has one projection for all heads
      for (const Real weight : found->second.span()) squares += double(weight) * double(weight);
    }
    return std::sqrt(squares);
  }
  std::vector<double> norms_;
};

}  // namespace

MetricEntry metric_magnitude() {
  return {{.name = "magnitude",
           .formula = "sqrt of the sum of squares of W_Q, W_K, W_V and W_O of h",
           .source = "Han et al. 2015, for whole heads",
           .cost = "0"},
          [] { return std::make_unique<MagnitudeMetric>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
