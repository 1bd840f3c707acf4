// The exponential of exponents that are not positive, against the standard library's.
#include "kernels/exponential.hpp"

#include <cmath>
#include <limits>

#include "headroom/base/extremes.hpp"
#include "support/catch.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
Real exponential_of(Real x) {
  alignas(64) Real lanes[kernels::Batch::size];
  kernels::exponential(kernels::Batch(x)).store_aligned(lanes);
  return lanes[kernels::Batch::size - 1];
}
}  // namespace

TEST_CASE("the exponential is exact to the last bits from its end to 80") {
  double worst = 0;
  for (int i = -87320; i <= 80000; ++i) {
    const Real x = Real(i) / 1000;
    const double exact = std::exp(double(x));
    worst = larger(worst, std::abs(double(exponential_of(x)) / exact - 1));
  }
  CHECK(worst < (is_double ? 1e-15 : 2e-7));
}

TEST_CASE("the exponential ends in 0 and 1, and hands a NaN on") {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  CHECK(exponential_of(Real(0)) == 1);
  CHECK(exponential_of(Real(-0.0)) == 1);
  CHECK(exponential_of(-infinity) == 0);
  CHECK(exponential_of(std::numeric_limits<Real>::lowest()) == 0);
  CHECK(exponential_of(Real(-1000)) == 0);
  CHECK(std::isnan(exponential_of(std::numeric_limits<Real>::quiet_NaN())));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
