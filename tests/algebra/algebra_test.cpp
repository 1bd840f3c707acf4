// Algebra of Arrays against plain loops. The operations of the same names are tested in ops/.
#include "headroom/algebra/algebra.hpp"

#include <cmath>
#include <limits>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"
#include "support/close.hpp"
#include "support/random.hpp"

using namespace headroom;

TEST_CASE("slice takes a range of any axis") {
  const Array x({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK_THAT(slice(x, {1, 1, 3}), test::SameBits(Array({2, 2}, {2, 3, 5, 6})));
  CHECK_THAT(slice(x, {-2, 1, 2}), test::SameBits(Array({1, 3}, {4, 5, 6})));
  CHECK(slice(x, {0, 1, 1}).shape() == Shape{0, 3});
  CHECK_THROWS_WITH(slice(x, {1, 1, 4}), "slice: [1, 4) is outside axis 1 of [2, 3], which has 3");
  CHECK_THROWS_WITH(slice(x, {2, 0, 1}), "slice: axis 2 does not exist in shape [2, 3]");
}

TEST_CASE("concat is the inverse of slicing") {
  const Array x({2, 3}, {1, 2, 3, 4, 5, 6});
  for (const int axis : {0, 1, -1}) {
    const Array first = slice(x, {axis, 0, 1}), rest = slice(x, {axis, 1, x.dim(axis)});
    CHECK_THAT(concat({first, rest}, axis), test::SameBits(x));
  }
  CHECK_THROWS_WITH(concat(std::vector<Array>{}, 0), "concat: no parts; at least 1 is needed");
  CHECK_THROWS_AS(concat({x, Array(Shape{3, 3})}, 1), ShapeError);
}

TEST_CASE("gather picks by position, of either kind") {
  const Array x({2, 3}, {1, 2, 3, 4, 5, 6}), picked({2, 3}, {3, 1, 3, 6, 4, 6});
  CHECK_THAT(gather(x, 1, Ids({3}, {2, 0, 2})), test::SameBits(picked));
  CHECK_THAT(gather(x, -1, std::vector<Index>{2, 0, 2}), test::SameBits(picked));
  CHECK(gather(x, 0, std::vector<Index>{}).shape() == Shape{0, 3});
  CHECK_THROWS_AS(gather(x, 0, std::vector<Index>{2}), ShapeError);
}

TEST_CASE("transposed exchanges two axes") {
  const Array x({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK_THAT(transposed(x), test::SameBits(Array({3, 2}, {1, 4, 2, 5, 3, 6})));
  const Array y({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK_THAT(transposed(y, 0, 1), test::SameBits(y.reshaped({2, 1, 3})));
  CHECK_THAT(transposed(transposed(y, 0, -1), 2, 0), test::SameBits(y));
  CHECK_THROWS_AS(transposed(y, 0, 3), ShapeError);
}

TEST_CASE("matmul multiplies the last two axes and broadcasts the others") {
  Rng rng(3, "algebra");
  const Array a = test::normal({2, 1, 3, 4}, rng), b = test::normal({5, 4, 2}, rng);
  const Array y = matmul(a, b);
  REQUIRE(y.shape() == Shape{2, 5, 3, 2});
  Array expected(y.shape());
  for (Index n = 0; n < 2; ++n) {
    for (Index m = 0; m < 5; ++m) {
      for (Index i = 0; i < 3; ++i) {
        for (Index j = 0; j < 2; ++j) {
          double sum = 0;
          for (Index k = 0; k < 4; ++k) {
            sum += double(a[(n * 3 + i) * 4 + k]) * double(b[(m * 4 + k) * 2 + j]);
          }
          expected[((n * 5 + m) * 3 + i) * 2 + j] = Real(sum);
        }
      }
    }
  }
  CHECK_THAT(y, test::close_at_scale(expected, test::tolerance(1e-14, 1e-6)));
  CHECK_THROWS_WITH(matmul(a, a),
                    "matmul: a [2, 1, 3, 4] has 4 columns but b [2, 1, 3, 4] has 3 rows");
}

TEST_CASE("the largest size of an element keeps a NaN") {
  CHECK(max_abs(Array({3}, {1, -5, 2})) == 5);
  CHECK(max_abs(Array(Shape{0})) == 0);
  CHECK(std::isnan(max_abs(Array({2}, {std::numeric_limits<Real>::quiet_NaN(), 7}))));
}
