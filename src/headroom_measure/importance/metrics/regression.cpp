// The metric regression.
#include "headroom/base/rng.hpp"
#include "importance/metrics/all.hpp"
#include "importance/ridge.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Coefficient of a head's presence in a linear regression on the losses of random subsets.
class Regression : public HeadMetric {
 public:
  void begin(const MetricSubject& subject) override { seed_ = subject.seed; }
  bool plays() const override { return true; }
  void play(HeadGame& game) override {
    Rng rng(seed_, "subsets of regression");
    std::vector<HeadSet> subsets;
    std::vector<std::vector<double>> rows;
    for (Index sample = 0; sample < 10 * game.size(); ++sample) {
      HeadSet subset;
      std::vector<double>& row = rows.emplace_back();
      for (Index h = 0; h < game.size(); ++h) {
        row.push_back(double(rng.below(2)));
        if (row.back() == 1) subset = subset.with(h);
      }
      subsets.push_back(subset);
    }
    const std::vector<double> penalties(static_cast<std::size_t>(game.size()), no_penalty);
    const std::vector<double> fit = ridge_regression(rows, game.values(subsets), penalties);
    for (std::size_t h = 1; h < fit.size(); ++h) scores_.push_back(-fit[h]);  // fit[0]: constant
  }
  std::vector<double> scores() const override { return scores_; }

 private:
  std::uint64_t seed_ = 0;
  std::vector<double> scores_;
};

}  // namespace

MetricEntry metric_regression() {
  return {{.name = "regression",
           .formula = "-b_h of the least squares v(S) = c + sum of b_h over h in S, 10N random S "
                      "with each head in half of them",
           .source = "Dery et al. 2024 (Bonsai); estimates the Banzhaf value (Hammer and Holzman "
                     "1992)",
           .cost = "10N F"},
          [] { return std::make_unique<Regression>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
