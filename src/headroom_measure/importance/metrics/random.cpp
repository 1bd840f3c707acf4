// The metric random.
#include "headroom/base/rng.hpp"
#include "importance/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The same in every layout, since the draws depend on the heads' names only.
class RandomMetric : public HeadMetric {
 public:
  void begin(const MetricSubject& subject) override {
    for (const HeadId& head : subject.heads) {
      scores_.push_back(double(Rng(subject.seed, "random importance of " + head.text()).uniform()));
    }
  }
  std::vector<double> scores() const override { return scores_; }

 private:
  std::vector<double> scores_;
};

}  // namespace

MetricEntry metric_random() {
  return {{.name = "random",
           .formula = "U(0, 1), drawn by seed and head",
           .source = "control",
           .cost = "0"},
          [] { return std::make_unique<RandomMetric>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
