// Regret: how far a set of heads is from the best one of the same size.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headroom/base/rng.hpp"
#include "headroom_measure/importance/head_game.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The `kept` players with the highest importance; of equally important ones, those with the
/// smallest numbers. Throws UsageError unless 0 <= kept <= number of players <= 64.
HeadSet most_important(std::span<const double> importance, Index kept);

/// The regret of keeping a set of players, and its standard errors, which are 0 where no losses of
/// examples are known.
struct Regret {
  double nats = 0;   // v(kept) - v(best subset of this size)
  double share = 0;  // nats / (mean of v over the subsets of this size - v(best)): 0 is the best
                     // subset, 1 is chance; NaN where all subsets of this size are equally good
  double nats_error = 0, share_error = 0;
};

/// Choices of heads whose regret is a yardstick for others: the chooser that removes the most
/// important heads, and the exact Shapley values of the set that measures the regret.
inline constexpr const char* negative_control = "worst_first";
inline constexpr const char* same_set_shapley = "exact Shapley, same set";
/// False for these two: a comparison of regrets says nothing about them.
bool is_candidate(const std::string& choice);

/// The loss of all subsets of a game's players, which regrets are measured by.
class RegretScale {
 public:
  /// From v(S) of all subsets, in the order of their bits; see shapley.hpp. Throws UsageError
  /// unless there are 2^players of them, for 1 to 16 players.
  RegretScale(std::span<const double> values, Index players);
  /// From the losses of the examples, losses[S][example]. Standard errors are the deviations over
  /// `resamples` bootstrap samples of the examples (Efron 1979), each of which has its own best
  /// subset.
  RegretScale(std::span<const std::vector<double>> losses, Index players, Index resamples, Rng rng);

  /// The regret of keeping these heads.
  Regret of(HeadSet kept) const;
  /// The smallest loss of a subset of this size, and the mean over these subsets.
  double best(Index size) const { return samples_.front().best.at(std::size_t(size)); }
  double random(Index size) const { return samples_.front().random.at(std::size_t(size)); }

 private:
  struct Sample {
    std::vector<double> values;        // by the bits of subsets
    std::vector<double> best, random;  // by size
  };
  static Sample sample_of(std::vector<double> values, Index players);

  std::vector<Sample> samples_;  // the examples themselves, then the bootstrap samples
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
