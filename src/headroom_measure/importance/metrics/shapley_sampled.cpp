// The metric shapley_sampled.
#include "headroom_measure/importance/shapley.hpp"
#include "importance/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

class SampledShapleyMetric : public HeadMetric {
 public:
  void begin(const MetricSubject& subject) override { seed_ = subject.seed; }
  bool plays() const override { return true; }
  void play(HeadGame& game) override {
    scores_ = sampled_shapley(game, 20, Rng(seed_, "orders of shapley_sampled")).values;
  }
  std::vector<double> scores() const override { return scores_; }

 private:
  std::uint64_t seed_ = 0;
  std::vector<double> scores_;
};

}  // namespace

MetricEntry metric_shapley_sampled() {
  return {{.name = "shapley_sampled",
           .formula = "mean of v(S) - v(S + h) over 20 random orders, S the heads before h; in "
                      "pairs of an order and its reverse",
           .source = "Castro, Gomez and Tejada 2009; for heads Held and Yang 2023",
           .cost = "20N F"},
          [] { return std::make_unique<SampledShapleyMetric>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
