// The factors of dropout, piece by piece.
#include "kernels/dropout.hpp"

#include <vector>

#include "support/catch.hpp"

using namespace headroom;

TEST_CASE("dropout's factors are those of the elements one by one, over several pieces") {
  const MaskStream stream(1, 2, 3, 4);
  constexpr Index first = 5, count = 1300;
  std::vector<Real> factors(count);
  kernels::dropout_factors(stream, first, count, Real(0.25), factors.data());
  for (Index i = 0; i < count; ++i) {
    const bool kept = Real(stream.uniform(first + i)) >= Real(0.25);
    REQUIRE(factors[static_cast<std::size_t>(i)] == (kept ? 1 / Real(0.75) : Real(0)));
  }
}
