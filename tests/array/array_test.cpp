// Array: sharing, copying, reshaping, versions.
#include "headroom/array/array.hpp"

#include <cstdint>

#include "headroom/base/error.hpp"
#include "support/close.hpp"

using namespace headroom;
using test::SameBits;

TEST_CASE("an array is filled, listed, or spanned, and indexed row-major") {
  const Array filled(Shape{2, 3}, Real(7));
  CHECK(filled.size() == 6);
  CHECK(filled[5] == 7);
  const Array listed(Shape{2, 2}, {1, 2, 3, 4});
  CHECK(listed[2] == 3);
  CHECK(listed.dim(-1) == 2);
  CHECK_THAT(zeros({2}), SameBits(Array(Shape{2}, {0, 0})));
  CHECK_THAT(ones({2}), SameBits(Array(Shape{2}, {1, 1})));
}

TEST_CASE("a wrong number of elements is an error with both numbers") {
  CHECK_THROWS_WITH((Array(Shape{2, 3}, {1, 2})),
                    "array: 2 elements do not fill shape [2, 3], which takes 6");
  CHECK_THROWS_WITH(Array(Shape{2, 3}).reshaped({4}),
                    "reshape: 6 elements do not fill shape [4], which takes 4");
  CHECK_THROWS_AS(Array(Shape{2}).reshaped({3}), ShapeError);
}

TEST_CASE("copies share the buffer, clones do not") {
  Array a(Shape{2}, {1, 2});
  CHECK_FALSE(a.shared());
  Array copy = a;
  CHECK(a.shared());
  CHECK(copy.same_buffer(a));
  copy[0] = 9;
  CHECK(a[0] == 9);
  Array clone = a.clone();
  CHECK_FALSE(clone.same_buffer(a));
  clone[0] = 5;
  CHECK(a[0] == 9);
  copy = Array();
  CHECK_FALSE(a.shared());
}

TEST_CASE("moving hands the buffer over and leaves an undefined array") {
  Array a(Shape{2}, {1, 2});
  const Array b = std::move(a);
  CHECK_FALSE(a.defined());  // NOLINT: tests the state of a moved-from array
  CHECK(a.shape() == Shape{0});
  CHECK_FALSE(b.shared());
  Array c(Shape{1});
  c = c.clone();
  c = *&c;
  CHECK_FALSE(c.shared());
}

TEST_CASE("reshaped shares the elements under another shape") {
  Array a(Shape{2, 3}, {0, 1, 2, 3, 4, 5});
  Array b = a.reshaped({3, 2});
  CHECK(b.same_buffer(a));
  CHECK(b.dim(0) == 3);
  CHECK(a.reshaped({1, 6, 1}).rank() == 3);
}

TEST_CASE("an undefined array has no elements; an empty one is defined") {
  const Array undefined;
  CHECK_FALSE(undefined.defined());
  CHECK(undefined.size() == 0);
  CHECK_FALSE(undefined.clone().defined());
  const Array empty(Shape{2, 0});
  CHECK(empty.defined());
  CHECK(empty.empty());
  CHECK(empty.clone().shape() == Shape{2, 0});
  CHECK(Array(Shape{}).size() == 1);
}

TEST_CASE("buffers are aligned to 64 bytes, whatever their size") {
  for (const Index n : {0, 1, 3, 17, 1000, 4097}) {
    CHECK(reinterpret_cast<std::uintptr_t>(Array(Shape{n}).data()) % 64 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(Bytes(Shape{n}).data()) % 64 == 0);
  }
}

TEST_CASE("a version belongs to the buffer, so every handle sees a change") {
  Array a(Shape{1});
  const Array copy = a;
  const std::uint32_t before = copy.version();
  a.mark_changed();
  CHECK(copy.version() == before + 1);
  CHECK(a.clone().version() == 0);
}
