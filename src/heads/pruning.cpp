// The gradual schedule and the choice of heads.
#include "headroom/heads/pruning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

void GradualSchedule::check() const {
  if (begin < 0 || end <= begin || every < 1 || total < 0) {
    throw UsageError(
        fmt::format("pruning schedule: {} heads from step {} to {} every {} steps; steps must rise "
                    "and 'every' be at least 1",
                    total, begin, end, every));
  }
}

Index GradualSchedule::removed_at(Index step) const {
  if (step <= begin) return 0;
  if (step >= end) return total;
  const Index removals = (step - begin) / every;  // whole intervals that have passed
  const double part = double(removals * every) / double(end - begin);
  const double gone = double(total) * (1 - std::pow(1 - part, 3));
  return Index(std::floor(gone + 1e-9));
}

std::vector<HeadId> PruningPlan::due(Index step, std::span<const HeadId> alive) const {
  const Index count = std::min(schedule.removed_at(step), Index(order.size()));
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
