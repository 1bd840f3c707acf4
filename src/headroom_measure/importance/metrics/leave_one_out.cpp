// The metric leave_one_out.
#include "importance/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The rise of the mean loss when the gate of this head alone is 0.
class LeaveOneOut : public HeadMetric {
 public:
  bool plays() const override { return true; }
  void play(HeadGame& game) override {
    const double whole = game.value(game.all());
    for (Index head = 0; head < game.size(); ++head) {
      scores_.push_back(game.value(game.all().without(head)) - whole);
    }
  }
  std::vector<double> scores() const override { return scores_; }

 private:
  std::vector<double> scores_;
};

}  // namespace

MetricEntry metric_leave_one_out() {
  return {{.name = "leave_one_out",
           .formula = "v(all but h) - v(all)",
           .source = "Michel, Levy and Neubig 2019, section 3.2",
           .cost = "N F"},
          [] { return std::make_unique<LeaveOneOut>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
