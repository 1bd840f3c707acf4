// The cost of removing a set of heads, when only single heads and pairs count. Private.
#pragma once

#include "headroom_measure/importance/choosers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// f(R) = sum of single[i] over i in R + sum of of_pair(i, j) over the pairs in R.
struct PairCosts {
  explicit PairCosts(Index players);
  Index players() const { return std::ssize(single); }
  double of_pair(Index i, Index j) const;
  void set_pair(Index i, Index j, double cost);

  std::vector<double> single;

 private:
  std::vector<double> pairs_;  // [players][players], symmetric, 0 where i = j
};

/// Games of at most so many players are searched completely: 2^24 sets, in less than a second.
inline constexpr Index most_enumerated = 24;

/// The players of a game whose removal costs least. In games of more than most_enumerated players
/// it takes the cheapest one each time, then exchanges a removed and a kept one as long as that
/// lowers the cost. The result is in the order in which its cheapest member is removed next.
std::vector<HeadId> cheapest_removal(const PairCosts& costs, const HeadGame& game, Index remove,
                                     const Budget& budget);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
