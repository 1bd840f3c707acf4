// Drawing examples with pairwise different inputs, so that sets are disjoint.
#pragma once

#include <fmt/format.h>

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "headroom/base/error.hpp"
#include "headroom/data/task.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Sizes of the sets: from the options, or the task's defaults where these are 0.
struct SetSizes {
  Index train, validation, test;
};
inline SetSizes sizes_of(const TaskOptions& options, const SetSizes& usual) {
  const auto chosen = [](Index asked, Index own) { return asked == 0 ? own : asked; };
  const SetSizes sizes{chosen(options.train, usual.train),
                       chosen(options.validation, usual.validation),
                       chosen(options.test, usual.test)};
  if (sizes.train < 1 || sizes.validation < 1 || sizes.test < 1) {
    throw UsageError(fmt::format("task: sets of {}, {} and {} examples; each needs at least one",
                                 sizes.train, sizes.validation, sizes.test));
  }
  return sizes;
}

/// Returns `count` results of draw(i) with pairwise different `.first`; draws again after a
/// duplicate. Throws UsageError when duplicates become too frequent.
template <class Draw>
auto unique_draws(const char* task, Index count, Draw draw) {
  std::vector<decltype(draw(Index{0}))> draws;
  std::unordered_set<std::string> seen;
  Index in_vain = 0;
  while (std::ssize(draws) < count) {
    auto drawn = draw(std::ssize(draws));
    if (seen.insert(drawn.first).second) {
      draws.push_back(std::move(drawn));
      in_vain = 0;
    } else if (++in_vain == 10'000) {
      throw UsageError(fmt::format("task {}: no {} different examples exist (found {})", task,
                                   count, draws.size()));
    }
  }
  return draws;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
