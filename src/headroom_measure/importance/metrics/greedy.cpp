// The metric greedy.
#include <algorithm>

#include "headroom_measure/importance/choosers.hpp"
#include "importance/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The order of the chooser greedy, without a budget.
class GreedyOrder : public HeadMetric {
 public:
  bool plays() const override { return true; }
  void play(HeadGame& game) override {
    const std::vector<HeadId> order = greedy()(game, game.size(), {.at_least_of_kind = 0});
    for (const HeadId& head : game.players()) {
      scores_.push_back(double(std::find(order.begin(), order.end(), head) - order.begin()));
    }
  }
  std::vector<double> scores() const override { return scores_; }

 private:
  std::vector<double> scores_;
};

}  // namespace

MetricEntry metric_greedy() {
  return {{.name = "greedy",
           .formula = "number of heads that backward elimination removes before h",
           .source = "Marill and Green 1963; for heads as Parnami, Singh and Joshi 2021",
           .cost = "N^2/2 F"},
          [] { return std::make_unique<GreedyOrder>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
