// The schedule of DropHead.
#include "headroom/surgery/drop_head.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

DropHead::DropHead(double p, Index steps) : p_(p), steps_(steps) {
  if (!(p >= 0 && p < 1)) throw UsageError(fmt::format("drop head: p = {} must be in [0, 1)", p));
  if (steps < 1) throw UsageError(fmt::format("drop head: {} steps; at least 1", steps));
}

double DropHead::probability(Index step) const {
  return p_ * std::max(0.0, 1 - double(step - 1) / double(steps_));
}

void DropHead::begin(Index step, HeadProbe& probe) { probe.drop_head = Real(probability(step)); }

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
