// The gradual schedule and the choice of heads.
#include "headroom/heads/pruning.hpp"

#include <cmath>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {
HeadId cross(Index layer, Index head) { return {AttentionKind::cross, layer, head}; }
}  // namespace

TEST_CASE(
    "the gradual schedule removes nothing before, everything after, and never fewer than before") {
  const GradualSchedule schedule{.begin = 100, .end = 200, .every = 10, .total = 12};
  schedule.check();
  CHECK(schedule.removed_at(0) == 0);
  CHECK(schedule.removed_at(100) == 0);
  CHECK(schedule.removed_at(109) == 0);
  Index before = 0;
  for (Index step = 100; step <= 200; ++step) {
    const Index now = schedule.removed_at(step);
    CHECK(now >= before);
    before = now;
  }
  CHECK(schedule.removed_at(200) == 12);
  CHECK(schedule.removed_at(10'000) == 12);
}

TEST_CASE("the gradual schedule is the cubic of Zhu and Gupta, many at first and few at last") {
  const GradualSchedule schedule{.begin = 0, .end = 10, .every = 1, .total = 1000};
  for (Index step = 0; step <= 10; ++step) {
    const double left = 1 - double(step) / 10;
    CHECK(schedule.removed_at(step) == Index(std::floor(1000 * (1 - left * left * left) + 1e-9)));
  }
  CHECK(schedule.removed_at(1) - schedule.removed_at(0) >
        10 * (schedule.removed_at(10) - schedule.removed_at(9)));
}

TEST_CASE("a schedule that cannot be followed is refused") {
  CHECK_THROWS_AS((GradualSchedule{.begin = 5, .end = 5, .every = 1, .total = 1}.check()),
                  UsageError);
  CHECK_THROWS_AS((GradualSchedule{.begin = 0, .end = 5, .every = 0, .total = 1}.check()),
                  UsageError);
  CHECK_THROWS_AS((GradualSchedule{.begin = 0, .end = 5, .every = 1, .total = -1}.check()),
                  UsageError);
}

TEST_CASE("a plan is due in its order, and what is gone is not due again") {
  PruningPlan plan{.schedule = {.begin = 0, .end = 4, .every = 1, .total = 3},
                   .order = {cross(0, 1), cross(1, 0), cross(0, 0)}};
  std::vector<HeadId> alive{cross(0, 0), cross(0, 1), cross(1, 0), cross(1, 1)};
  CHECK(plan.due(0, alive).empty());
  const std::vector<HeadId> first = plan.due(1, alive);  // 3 (1 - (3/4)^3) = 1.7
  CHECK(first == std::vector<HeadId>{cross(0, 1)});
  std::erase(alive, cross(0, 1));
  CHECK(plan.due(1, alive).empty());
  CHECK(plan.due(4, alive) == std::vector<HeadId>{cross(1, 0), cross(0, 0)});
}

TEST_CASE("a choice leaves every attention its share, and says when that is impossible") {
  const std::vector<HeadId> order{cross(0, 0), cross(0, 1), cross(1, 1), cross(1, 0)};
  CHECK(choose(order, 2, 0) == std::vector<HeadId>{cross(0, 0), cross(0, 1)});
  CHECK(choose(order, 2, 1) == std::vector<HeadId>{cross(0, 0), cross(1, 1)});
  CHECK(choose(order, 4, 0).size() == 4);
  CHECK_THROWS_WITH(choose(order, 3, 1),
                    "prune: 3 heads cannot be removed if each attention keeps 1; at most 2 can");
}
