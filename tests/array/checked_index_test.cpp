// Compiled with HEADROOM_CHECKED, as the documents recommend for programs that are being written.
#include "headroom/array/array.hpp"
#include "headroom/base/error.hpp"
#include "support/catch.hpp"

using namespace headroom;

TEST_CASE("with HEADROOM_CHECKED an index that does not exist is an error with index and shape") {
  Array a({2, 3}, Real(1));
  const Array same = a;
  CHECK(a[5] == 1);
  CHECK_THROWS_AS(a[6], ShapeError);
  CHECK_THROWS_WITH(a[6] = 2, "index 6 of an array of 6 elements, shape [2, 3]");
  CHECK_THROWS_WITH(same[-1], "index -1 of an array of 6 elements, shape [2, 3]");
  CHECK_THROWS_AS(Ids(Shape{0})[0], ShapeError);
}
