// Regression test of a compiler bug that occurred with the flags of this build.
#include <cstdint>
#include <vector>

#include "headroom/base/shape.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {

__attribute__((noinline)) std::vector<Index> take(std::vector<Index> numbers) { return numbers; }

}  // namespace

TEST_CASE("constants that end in zeros keep their zeros across a call") {
  // GCC 12 with AVX-512 wrote the first element into all four.
  std::vector<Index> numbers = take({1, 2, 3});
  numbers = {3, 3, 0, 0};
  CHECK(numbers[2] == 0);
  CHECK(numbers[3] == 0);
  numbers = take(std::vector<Index>{5, 5, 5, 0});
  CHECK(numbers[3] == 0);
  CHECK(Shape{3, 3, 0, 0}[2] == 0);
}
