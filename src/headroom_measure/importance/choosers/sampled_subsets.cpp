// Random subsets of a game's players.
#include "importance/choosers/sampled_subsets.hpp"

#include <algorithm>

#include "headroom/base/rng.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::vector<HeadSet> random_subsets(const HeadGame& game, Index remove, Index samples,
                                    std::uint64_t seed, std::string_view name) {
  std::vector<HeadSet> subsets{game.all()};
  Rng rng(seed, name);
  while (std::ssize(subsets) < samples) {
    HeadSet subset;
    Index missing = std::clamp(remove - 1 + rng.below(3), Index{0}, game.size());
    for (Index i = 0; i < game.size(); ++i) {  // each of the players left is equally likely
      if (rng.below(game.size() - i) < missing) {
        --missing;
      } else {
        subset = subset.with(i);
      }
    }
    subsets.push_back(subset);
  }
  return subsets;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
