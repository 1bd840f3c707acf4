// The metric taylor2.
#include "importance/gate_hessian.hpp"
#include "importance/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The rise of the loss that a parabola through g = 1 predicts for g = 0.
class Taylor2 : public HeadMetric {
 public:
  bool plays() const override { return true; }
  void play(HeadGame& game) override {
    const GateExpansion expansion = expansion_of(game);
    for (Index h = 0; h < game.size(); ++h) scores_.push_back(expansion.rise_without(h));
  }
  std::vector<double> scores() const override { return scores_; }

 private:
  std::vector<double> scores_;
};

}  // namespace

MetricEntry metric_taylor2() {
  return {{.name = "taylor2",
           .formula = "-dL/dg_h + H_h / 2, H_h = (dL/dg_h at g_h = 1.1 - at 0.9) / 0.2",
           .source = "LeCun, Denker and Solla 1990 (OBD), for gates and with the first order",
           .cost = "(2N+1) B"},
          [] { return std::make_unique<Taylor2>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
