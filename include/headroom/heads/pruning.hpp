// Pruning while training: which heads are removed.
#pragma once

#include <span>
#include <vector>

#include "headroom/heads/schedules.hpp"
#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A fixed order of removal under a schedule.
struct PruningPlan {
  Pace pace;
  Index total = 0;            // heads to remove
  std::vector<HeadId> order;  // first to be removed first; at least `total` of them
  /// The heads of the plan that should be removed by `step` and are still among `alive`.
  std::vector<HeadId> due(Index step, std::span<const HeadId> alive) const;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
