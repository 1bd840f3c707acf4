// Pruning while training: which heads are removed, and when.
#pragma once

#include <span>
#include <vector>

#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Number of heads removed by a training step: from none at `begin` to `total` at `end`, many at
/// first and few at the end, s_t = s_f + (s_i - s_f) (1 - (t - t_0) / (n dt))^3 with s_i = 0. Zhu
/// and Gupta 2017, equation 1. It depends on the step only, so checkpoints do not store it.
struct GradualSchedule {
  Index begin = 0;  // t_0: the last step with all heads
  Index end = 1;    // the first step with `total` heads removed
  Index every = 1;  // dt: steps between removals
  Index total = 0;  // heads to remove
  /// Throws UsageError unless begin < end, every >= 1 and total >= 0.
  void check() const;
  Index removed_at(Index step) const;
};

/// A fixed order of removal under a schedule.
struct PruningPlan {
  GradualSchedule schedule;
  std::vector<HeadId> order;  // first to be removed first; at least schedule.total of them
  /// The heads of the plan that should be removed by `step` and are still among `alive`.
  std::vector<HeadId> due(Index step, std::span<const HeadId> alive) const;
};

/// The first `total` of `order` such that every attention keeps at least `keep` live heads.
/// Throws UsageError when that leaves too few.
std::vector<HeadId> choose(std::span<const HeadId> order, Index total, Index keep);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
