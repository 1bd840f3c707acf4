// A fixed order of removal.
#include "headroom/heads/pruning.hpp"

#include "support/catch.hpp"

using namespace headroom;

namespace {
HeadId cross(Index layer, Index head) { return {AttentionKind::cross, layer, head}; }
}  // namespace

TEST_CASE("a plan is due in its order, and what is gone is not due again") {
  PruningPlan plan{.pace = Gradual{.from = 0, .to = 4, .every = 1},
                   .total = 3,
                   .order = {cross(0, 1), cross(1, 0), cross(0, 0)}};
  std::vector<HeadId> alive{cross(0, 0), cross(0, 1), cross(1, 0), cross(1, 1)};
  CHECK(plan.due(0, alive).empty());
  const std::vector<HeadId> first = plan.due(1, alive);  // 3 (1 - (3/4)^3) = 1.7
  CHECK(first == std::vector<HeadId>{cross(0, 1)});
  std::erase(alive, cross(0, 1));
  CHECK(plan.due(1, alive).empty());
  CHECK(plan.due(4, alive) == std::vector<HeadId>{cross(1, 0), cross(0, 0)});
}
