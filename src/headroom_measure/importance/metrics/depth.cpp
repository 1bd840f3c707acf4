// The metric depth.
#include "importance/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

class DepthMetric : public HeadMetric {
 public:
  void begin(const MetricSubject& subject) override {
    for (const HeadId& head : subject.heads) layers_.push_back(double(head.layer));
  }
  std::vector<double> scores() const override { return layers_; }

 private:
  std::vector<double> layers_;
};

}  // namespace

MetricEntry metric_depth() {
  return {{.name = "depth",
           .formula = "number of the layer; the last layers go first",
           .source = "control; HARP 2025, arXiv 2507.01900",
           .keep_low = true,
           .cost = "0"},
          [] { return std::make_unique<DepthMetric>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
