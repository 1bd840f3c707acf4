// A fixed order of removal.
#include "headroom/heads/pruning.hpp"

#include <algorithm>

#include "headroom/base/at.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::vector<HeadId> PruningPlan::due(Index step, std::span<const HeadId> alive) const {
  const Index count = std::min(removed_at(pace, total, step), Index(order.size()));
  std::vector<HeadId> heads;
  for (Index i = 0; i < count; ++i) {
    const HeadId& head = at(order, i);
    if (std::find(alive.begin(), alive.end(), head) != alive.end()) heads.push_back(head);
  }
  return heads;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
