// AxisRange: a contiguous part of one axis of an array, and the memory that belongs to it.
#pragma once

#include "headroom/base/shape.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Indices [begin, end) of an axis.
struct AxisRange {
  int axis = 0;
  Index begin = 0, end = 0;

  Index length() const { return end - begin; }
  bool operator==(const AxisRange&) const = default;
};

/// An array of any shape as seen from one axis: [outer, length, inner]. A number (rank 0) has an
/// axis 0 of length 1.
struct AxisView {
  Index outer = 1, length = 1, inner = 1;
  AxisView(const Shape& shape, int axis) {
    for (int i = 0; i < shape.rank(); ++i) {
      (i < axis ? outer : i == axis ? length : inner) *= shape[i];
    }
  }
};

/// The elements of an axis range in row-major memory: `count` runs of `length` elements each, the
/// first from element `first` on, one every `stride` elements.
struct Runs {
  Index first, length, stride, count;
};
inline Runs runs_of(const Shape& shape, const AxisRange& range) {
  const AxisView view(shape, range.axis);
  return {range.begin * view.inner, range.length() * view.inner, view.length * view.inner,
          view.outer};
}

/// Calls visit(first element, number of elements) for each run of a range, in ascending order.
template <class Visit>
void for_each_run(const Shape& shape, const AxisRange& range, Visit visit) {
  const Runs runs = runs_of(shape, range);
  for (Index i = 0; i < runs.count; ++i) visit(runs.first + i * runs.stride, runs.length);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
