// The rule that all timelines follow.
#include "headroom_measure/pruning/pruning_history.hpp"

#include <fmt/format.h>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

void check_timeline(const std::vector<PruningEvent>& timeline, const std::string& origin) {
  for (std::size_t i = 0; i < timeline.size(); ++i) {
    const auto& [step, by, removed, regrown, heads, scores] = timeline[i];
    if (heads.size() == scores.size()) continue;
    throw DataError(fmt::format("{}: timeline[{}] has {} scores for {} heads", origin, i,
                                scores.size(), heads.size()));
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
