// The schedule of DropHead.
#include "headroom/surgery/drop_head.hpp"

#include <cmath>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"

using namespace headroom;

TEST_CASE("DropHead's probability falls linearly to 0") {
  const DropHead drop(0.4, 10);
  CHECK(drop.probability(1) == 0.4);
  CHECK(std::abs(drop.probability(6) - 0.2) < 1e-15);
  CHECK(std::abs(drop.probability(10) - 0.04) < 1e-15);
  CHECK(drop.probability(11) == 0);
  CHECK(drop.probability(100) == 0);
  CHECK_THROWS_AS(DropHead(1, 10), UsageError);
  CHECK_THROWS_AS(DropHead(-0.1, 10), UsageError);
  CHECK_THROWS_AS(DropHead(0.1, 0), UsageError);
}
