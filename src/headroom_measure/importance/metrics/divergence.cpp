// The metric divergence.
#include "importance/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// How far the predictions move when the gate of this head alone is 0, right or wrong.
class DivergenceMetric : public HeadMetric {
 public:
  bool plays() const override { return true; }
  void play(HeadGame& game) override {
    std::vector<HeadSet> subsets;
    for (Index h = 0; h < game.size(); ++h) subsets.push_back(game.all().without(h));
    scores_ = game.divergences(subsets);
  }
  std::vector<double> scores() const override { return scores_; }

 private:
  std::vector<double> scores_;
};

}  // namespace

MetricEntry metric_divergence() {
  return {{.name = "divergence",
           .formula = "E_x sum over labels of KL(p with all heads, p without h)",
           .source = "arXiv 2507.07064",
           .cost = "N F"},
          [] { return std::make_unique<DivergenceMetric>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
