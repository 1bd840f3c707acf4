// Random subsets of a game's players, for choosers that fit its values. Private.
#pragma once

#include <string_view>
#include <vector>

#include "headroom_measure/importance/head_game.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// So many random subsets without `remove` players, or one more or one fewer: a fit need not hold
/// far from the size that is asked for. The first is the set of all. `name` is that of the draws.
std::vector<HeadSet> random_subsets(const HeadGame& game, Index remove, Index samples,
                                    std::uint64_t seed, std::string_view name);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
