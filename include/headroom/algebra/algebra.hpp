// Algebra of Arrays without a tape: slice, concat, gather, transpose, product. The operations of
// the same names in ops/ compute their values with these and add the gradient.
#pragma once

#include <span>
#include <vector>

#include "headroom/array/array.hpp"
#include "headroom/base/axis_range.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Elements [begin, end) along an axis, as a copy: `slice(x, {0, 2, 5})`. Throws ShapeError outside
/// the axis.
Array slice(const Array& x, const AxisRange& range);

/// One after the other along an axis. All other sizes must be equal. Throws ShapeError.
Array concat(const std::vector<Array>& parts, int axis);

/// Slices of x along an axis, picked by position, in that order. A position may come more than
/// once. positions [n] -> the axis gets size n. Throws ShapeError out of range.
Array gather(const Array& x, int axis, const Ids& positions);
Array gather(const Array& x, int axis, std::span<const Index> positions);

/// Slices x[rows[0]], x[rows[1]], ... along the first axis, of Array or Ids. The rows exist.
template <class T>
ArrayOf<T> pick_rows(const ArrayOf<T>& x, std::span<const Index> rows);

/// Two axes exchanged, as a copy. Throws ShapeError for an axis that does not exist.
Array transposed(const Array& x, int a = -2, int b = -1);

/// a b for [..., M, K] and [..., K, N]. The leading axes broadcast. Both need at least two axes.
/// Throws ShapeError.
Array matmul(const Array& a, const Array& b);

/// max |x_i| in double, and NaN when an element is. 0 for an empty array.
double max_abs(const Array& x);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
