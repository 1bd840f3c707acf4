// Shape and broadcasting.
#include "headroom/base/shape.hpp"

#include "headroom/base/error.hpp"
#include "support/catch.hpp"

using namespace headroom;

TEST_CASE("a shape knows its size, its axes from both ends, and its text") {
  const Shape shape{2, 3, 4};
  CHECK(shape.size() == 24);
  CHECK(shape[-1] == 4);
  CHECK(shape[0] == 2);
  CHECK(shape.text() == "[2, 3, 4]");
  CHECK(Shape{}.size() == 1);
  CHECK(Shape{}.text() == "[]");
  CHECK(Shape{3, 0}.size() == 0);
  CHECK_THROWS_WITH(shape[3], "axis 3 does not exist in shape [2, 3, 4]");
  CHECK_THROWS_WITH(shape[-4], "axis -4 does not exist in shape [2, 3, 4]");
}

TEST_CASE("a shape gains, loses and changes axes") {
  const Shape shape{2, 3, 4};
  CHECK(shape.without(1) == Shape{2, 4});
  CHECK(shape.without(-1) == Shape{2, 3});
  CHECK(shape.inserted(0, 9) == Shape{9, 2, 3, 4});
  CHECK(shape.inserted(3, 9) == Shape{2, 3, 4, 9});
  CHECK(shape.inserted(-1, 9) == Shape{2, 3, 4, 9});
  CHECK(shape.with(-2, 0) == Shape{2, 0, 4});
}

TEST_CASE("a shape has at most six axes, none negative") {
  CHECK_NOTHROW(Shape{1, 2, 3, 4, 5, 6});
  CHECK_THROWS_WITH((Shape{1, 1, 1, 1, 1, 1, 1}), "shape: at most 6 axes");
  CHECK_THROWS_WITH((Shape{2, -1}), "shape: size -1 of axis 1 is negative");
}

TEST_CASE("the number of elements does not overflow") {
  const Index large = Index{1} << 40;
  CHECK(Shape{1 << 24, 1 << 24}.size() == Index{1} << 48);
  CHECK((Shape{0, large, 1 << 20}).size() == 0);
  CHECK_THROWS_WITH((Shape{1 << 24, 1 << 24, 2}).size(),
                    "shape [16777216, 16777216, 2]: too many elements");
  CHECK_THROWS_AS((Shape{large, large, large}).size(), ShapeError);  // 0 without its upper bits
  CHECK_THROWS_AS((Shape{3, large, large}).size(), ShapeError);
}

TEST_CASE("shapes broadcast as in NumPy") {
  CHECK(broadcast("add", {2, 1, 4}, {3, 1}) == Shape{2, 3, 4});
  CHECK(broadcast("add", {0, 3}, {1, 3}) == Shape{0, 3});
  CHECK(broadcast("add", {1}, {0}) == Shape{0});
  CHECK(broadcast("add", {}, {5}) == Shape{5});
  CHECK_THROWS_WITH(broadcast("add", {2, 3}, {4}),
                    "add: shapes [2, 3] and [4] do not broadcast: axis 1 from the end has 3 and 4");
  CHECK_THROWS_WITH(broadcast("add", {0}, {2}),
                    "add: shapes [0] and [2] do not broadcast: axis 1 from the end has 0 and 2");
  CHECK(broadcasts_to({3, 1}, {2, 3, 4}));
  CHECK_FALSE(broadcasts_to({2, 3}, {3}));
  CHECK_FALSE(broadcasts_to({2}, {1}));
}
