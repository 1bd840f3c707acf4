// The common part of metrics that need the loss of all subsets.
#pragma once

#include <fmt/format.h>

#include "headroom_measure/importance/shapley.hpp"
#include "importance/metrics/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// f of the values of all 2^N subsets of at most most_exact_players heads.
template <std::vector<double> (*f)(std::span<const double> values, Index players)>
class AllSubsetsMetric : public HeadMetric {
 public:
  void begin(const MetricSubject& subject) override {
    if (std::ssize(subject.heads) <= most_exact_players) return;
    absent_ = fmt::format(
        "it needs all subsets, of at most {} heads; shapley_sampled and regression estimate it",
        most_exact_players);
  }
  std::string absent() const override { return absent_; }
  bool plays() const override { return true; }
  void play(HeadGame& game) override { scores_ = f(all_values(game), game.size()); }
  std::vector<double> scores() const override { return scores_; }

 private:
  std::string absent_;
  std::vector<double> scores_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
