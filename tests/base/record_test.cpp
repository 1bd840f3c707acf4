// Numbers in records.
#include "headroom/base/record.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <limits>

using namespace headroom;

TEST_CASE("a rounded number keeps its first digits, however large or small it is") {
  CHECK(rounded_number(1234567.0, 4) == 1235000.0);
  CHECK(rounded_number(-0.00123449, 4) == -0.001234);
  CHECK(rounded_number(0, 6) == 0.0);
  CHECK(rounded_number(1.7e308, 6) == 1.7e308);
  CHECK(rounded_number(std::numeric_limits<double>::max(), 4) ==
        std::numeric_limits<double>::max());
  CHECK(rounded_number(1.23456e-310, 3) == 1.23e-310);
  CHECK(rounded_number(std::numeric_limits<double>::denorm_min(), 4) ==
        std::numeric_limits<double>::denorm_min());
}

TEST_CASE("a number that is not finite stays as it is") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(rounded_number(-infinity, 4) == -infinity);
  CHECK(std::isnan(rounded_number(std::nan(""), 4)));
}
