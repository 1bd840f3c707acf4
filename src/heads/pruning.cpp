// A fixed order of removal, and a choice that leaves every attention its share.
#include "headroom/heads/pruning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"

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

std::vector<HeadId> choose(std::span<const HeadId> order, Index total, Index keep) {
  std::map<AttentionLocation, Index> left;
  for (const HeadId& head : order) ++left[{head.kind, head.layer}];
  std::vector<HeadId> chosen;
  for (const HeadId& head : order) {
    if (Index(chosen.size()) == total) break;
    Index& here = left[{head.kind, head.layer}];
    if (here <= keep) continue;
    --here;
    chosen.push_back(head);
  }
  if (Index(chosen.size()) < total) {
    throw UsageError(
        fmt::format("prune: {} heads cannot be removed if each attention keeps {}; at most {} can",
                    total, keep, chosen.size()));
  }
  return chosen;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
