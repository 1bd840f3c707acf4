// The metric path.
#include <iterator>

#include "importance/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Nodes and weights of Gauss's quadrature with 8 points on [-1, 1], which are symmetric.
constexpr double nodes[]{0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                         0.9602898564975363};
constexpr double weights[]{0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                           0.1012285362903763};

/// The loss goes from v(none) to v(all) as all gates rise together from 0 to 1. The score is each
/// head's part of the fall, which Shapley's axioms for continuous games single out.
class Path : public HeadMetric {
 public:
  bool plays() const override { return true; }
  void play(HeadGame& game) override {
    const auto count = static_cast<std::size_t>(game.size());
    scores_.resize(count, 0);
    for (std::size_t k = 0; k < std::size(nodes); ++k) {
      for (const double side : {-1, 1}) {
        const std::vector<double> gates(count, (1 + side * nodes[k]) / 2);
        const std::vector<double> gradient = game.gradient(gates);
        for (std::size_t h = 0; h < count; ++h) scores_[h] -= weights[k] / 2 * gradient[h];
      }
    }
  }
  std::vector<double> scores() const override { return scores_; }

 private:
  std::vector<double> scores_;
};

}  // namespace

MetricEntry metric_path() {
  return {{.name = "path",
           .formula =
               "-integral of dL/dg_h over s in [0, 1], all gates s; by Gauss's rule with 8 points",
           .source = "Aumann and Shapley 1974; Sundararajan et al. 2017; for attention Hao et al. "
                     "2021",
           .cost = "8 B"},
          [] { return std::make_unique<Path>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
