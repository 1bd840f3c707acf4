// The metric random_masks.
#include <cmath>

#include "headroom/base/rng.hpp"
#include "importance/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Where the task is solved, gradients at g = 1 vanish, but those of models that lack some heads do
/// not. The gradient of a gate that is closed counts too: it says what opening it would change.
class RandomMasks : public HeadMetric {
 public:
  void begin(const MetricSubject& subject) override { seed_ = subject.seed; }
  bool plays() const override { return true; }
  void play(HeadGame& game) override {
    constexpr std::uint64_t masks = 8;
    scores_.resize(static_cast<std::size_t>(game.size()), 0);
    for (std::uint64_t mask = 0; mask < masks; ++mask) {
      std::vector<MaskStream> streams;  // each example has a mask of its own
      for (const HeadId& head : game.players()) {
        streams.emplace_back(seed_, mask, hash_name("random mask of " + head.text()));
      }
      const auto rows = game.example_gradients([&](Index example, Index player) {
        return streams[static_cast<std::size_t>(player)].uniform(example) < 0.75F ? 1 : 0;
      });
      for (const std::vector<double>& row : rows) {
        for (std::size_t h = 0; h < scores_.size(); ++h) {
          scores_[h] += std::abs(row[h]) / double(rows.size() * masks);
        }
      }
    }
  }
  std::vector<double> scores() const override { return scores_; }

 private:
  std::uint64_t seed_ = 0;
  std::vector<double> scores_;
};

}  // namespace

MetricEntry metric_random_masks() {
  return {{.name = "random_masks",
           .formula = "E_x,m |dL(x)/dg_h| where gates are m, 8 random masks that keep each head "
                      "with 3/4",
           .source = "headroom: after expected gradients (Erion et al. 2021) and DropHead (Zhou et "
                     "al. 2020)",
           .cost = "8 B"},
          [] { return std::make_unique<RandomMasks>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
