// AxisRange: the elements of an array that it selects.
#include "headroom/base/axis_range.hpp"

#include <vector>

#include "support/catch.hpp"

using namespace headroom;

namespace {

/// The elements of a range by plain loops over three axes.
std::vector<Index> by_loops(const Shape& shape, const AxisRange& range) {
  std::vector<Index> elements;
  for (Index i = 0; i < shape[0]; ++i) {
    for (Index j = 0; j < shape[1]; ++j) {
      for (Index k = 0; k < shape[2]; ++k) {
        const Index along[] = {i, j, k};
        const Index at = along[range.axis];
        if (range.begin <= at && at < range.end) {
          elements.push_back((i * shape[1] + j) * shape[2] + k);
        }
      }
    }
  }
  return elements;
}

std::vector<Index> by_runs(const Shape& shape, const AxisRange& range) {
  std::vector<Index> elements;
  for_each_run(shape, range, [&](Index first, Index count) {
    for (Index i = first; i < first + count; ++i) elements.push_back(i);
  });
  return elements;
}

}  // namespace

TEST_CASE("the runs of a range are its elements in ascending order") {
  const Shape shape{3, 4, 5};
  for (const AxisRange& range : {AxisRange{0, 1, 3}, AxisRange{1, 0, 2}, AxisRange{2, 3, 5},
                                 AxisRange{1, 2, 2}, AxisRange{0, 0, 3}}) {
    INFO("axis " << range.axis << " [" << range.begin << ", " << range.end << ")");
    CHECK(by_runs(shape, range) == by_loops(shape, range));
  }
}

TEST_CASE("a range knows its length, and a number has an axis of length 1") {
  CHECK(AxisRange{1, 2, 5}.length() == 3);
  CHECK(AxisView(Shape{}, 0).length == 1);
  CHECK(by_runs(Shape{}, {0, 0, 1}) == std::vector<Index>{0});
  const AxisView view(Shape{2, 3, 4}, 1);
  CHECK(view.outer == 2);
  CHECK(view.length == 3);
  CHECK(view.inner == 4);
}
