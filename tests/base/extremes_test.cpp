// Minimum and maximum that propagate NaN.
#include "headroom/base/extremes.hpp"
#include "support/catch.hpp"

#include <limits>
#include <vector>

using namespace headroom;

TEST_CASE("extremes are those of the numbers") {
  CHECK(larger(1, 2) == 2);
  CHECK(larger(-1, -2) == -1);
  CHECK(smaller(1, 2) == 1);
  CHECK(smaller(-1, -2) == -2);
  const std::vector<double> values{3, -5, 4, 0};
  CHECK(largest(values) == 4);
  CHECK(smallest(values) == -5);
}

TEST_CASE("a number that is none is the extreme, wherever it stands") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& extreme : {larger, smaller}) {
    CHECK(std::isnan(extreme(nan, 1)));
    CHECK(std::isnan(extreme(1, nan)));
  }
  for (std::size_t at = 0; at < 3; ++at) {
    std::vector<double> values{1, 2, 3};
    values[at] = nan;
    CHECK(std::isnan(largest(values)));
    CHECK(std::isnan(smallest(values)));
  }
}
