//! title: sum_to
//! replaces: headroom::sum_to
//! minutes: 15
//! difficulty: 2
//! path: short
//! needs: 03/1
//! hint: Element i of dy has a position along each axis. The element of the sum that it belongs to
//!   shares some of them. Which ones? And what is the position along an axis of size 1?
//! hint: For each i: walk over the axes of `shape` from the last one to the first. The position of
//!   i along the axis is rest % dy.dim(axis), then rest /= dy.dim(axis). In the sum, one step along
//!   an axis skips as many elements as all later axes of `shape` have together.
//! hint: Index rest = i, to = 0, stride = 1. For each axis -1, -2, ... of shape: if its size is not
//!   1, to += rest % dy.dim(axis) * stride; then rest /= dy.dim(axis), stride *= shape[axis].
//!   At the end sum[to] += dy[i].
//! after: The library's own, in src/headroom/kernels/reduce.cpp, sums whole rows at once, in pieces
//!   that do not depend on the number of threads.
// Exercise 03/2, sum_to: the transpose of broadcasting.
#include "2_sum_to.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Array sum_to(const Array& dy, const Shape& shape) {
  //! solution
  Array sum = zeros(shape);
  for (Index i = 0; i < dy.size(); ++i) {
    Index rest = i, to = 0, stride = 1;  // of the sum
    for (int axis = -1; axis >= -shape.rank(); --axis) {
      if (shape[axis] != 1) to += rest % dy.dim(axis) * stride;
      rest /= dy.dim(axis);
      stride *= shape[axis];
    }
    sum[to] += dy[i];
  }
  return sum;
  //! skeleton
  // Array sum = zeros(shape);
  // for (Index i = 0; i < dy.size(); ++i) {
  //   const Index to = chapter::todo("to: the element of the sum that dy[i] belongs to");
  //   sum[to] += dy[i];
  // }
  // return sum;
  //! mistake leading_only: the copies were taken to follow one after the other in memory. That is
  //!   right for [3] in [2, 3] and wrong for [2, 1]: an axis of size 1 is repeated, too
  // Array sum = zeros(shape);
  // for (Index i = 0; i < dy.size(); ++i) sum[i % sum.size()] += dy[i];
  // return sum;
  //! mistake mean: the mean of the copies was taken. Each copy pulls at the element, and the pulls
  //!   add up
  //- sum[to] += dy[i];
  //+ sum[to] += dy[i] / Real(dy.size() / sum.size());
  //! mistake overwrites: only the last copy of each element counts: = replaces where += adds
  //- sum[to] += dy[i];
  //+ sum[to] = dy[i];
  //! mistake not_zeroed: the sum began with what was in memory before: Array(shape) is not
  //!   initialised
  //- Array sum = zeros(shape);
  //+ Array sum(shape);
  //! mistake aligned_left: the shapes were aligned at the first axis. Broadcasting aligns the last
  //!   ones
  //- Index rest = i, to = 0, stride = 1;  // of the sum
  //- for (int axis = -1; axis >= -shape.rank(); --axis) {
  //-   if (shape[axis] != 1) to += rest % dy.dim(axis) * stride;
  //-   rest /= dy.dim(axis);
  //-   stride *= shape[axis];
  //+ Index later = dy.size(), rest = i, to = 0;
  //+ for (int axis = 0; axis < shape.rank(); ++axis) {
  //+   later /= dy.dim(axis);
  //+   to = to * shape[axis] + (shape[axis] == 1 ? 0 : rest / later);
  //+   rest %= later;
  //! wrong no_stride: index 3 of an array of 2 elements
  //- stride *= shape[axis];
  //+ stride *= dy.dim(axis);
  //! wrong keeps_axes: the sums have the shape [1, 4], expected [4]
  //- Array sum = zeros(shape);
  //+ Shape kept = dy.shape();
  //+ for (int axis = 0; axis < kept.rank(); ++axis) {
  //+   const int missing = kept.rank() - shape.rank();
  //+   if (axis < missing || shape[axis - missing] == 1) kept.set(axis, 1);
  //+ }
  //+ Array sum = zeros(kept);
  //! wrong leaves_the_shape: [1, 3] to [3]: the sums have the shape [1, 3], expected [3]
  //+ if (dy.size() == shape.size()) return dy;
  //  Array sum = zeros(shape);
  //! wrong returns_dy: nothing was summed
  // return dy;
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
