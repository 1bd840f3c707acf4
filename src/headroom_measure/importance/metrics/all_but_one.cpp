// The metric all_but_one.
#include "headroom/base/at.hpp"
#include "importance/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Fall of the loss when a head is added to an attention without heads.
class AllButOne : public HeadMetric {
 public:
  bool plays() const override { return true; }
  void play(HeadGame& game) override {
    for (Index h = 0; h < game.size(); ++h) {
      HeadSet none = game.all();
      for (Index other = 0; other < game.size(); ++other) {
        const HeadId &a = at(game.players(), h), &b = at(game.players(), other);
        if (a.kind == b.kind && a.layer == b.layer) none = none.without(other);
      }
      scores_.push_back(game.value(none) - game.value(none.with(h)));
    }
  }
  std::vector<double> scores() const override { return scores_; }

 private:
  std::vector<double> scores_;
};

}  // namespace

MetricEntry metric_all_but_one() {
  return {{.name = "all_but_one",
           .formula = "v(all but the heads of its attention) - v(the same and h)",
           .source = "Michel, Levy and Neubig 2019, section 3.3",
           .cost = "N F"},
          [] { return std::make_unique<AllButOne>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
