// Exercise 03/4: write permute, axes in another order, with its gradient.
//
//   Tensor permute(const Tensor& x, const std::vector<int>& order)
//
// Axis j of the result is axis order[j] of x: {1, 2, 0} makes [3, 4, 2] of [2, 3, 4]. Arrays are in
// row-major order, so the elements have to move. You write three parts: where the elements of the
// result come from, the order that leads back, and the gradient. You have:
//
//   at(order, j)                 order[j]; order has x.rank() entries, each axis of x once
//   stride(x.shape(), axis)      how many elements of x are between two neighbours along the axis.
//                                The element at position (i, j, k) is number
//                                i stride(.., 0) + j stride(.., 1) + k stride(.., 2) of the array
//   y.dim(j)                     as in exercise 03/2, i % y.dim(-1) is the position of element i
//                                along the last axis, and i / y.dim(-1) goes on before it
#pragma once

#include <algorithm>
#include <string>

#include "common/answer.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/op_scope.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The product of the sizes of all axes behind `axis`.
inline Index stride(const Shape& shape, int axis) {
  Index product = 1;
  for (int later = axis + 1; later < shape.rank(); ++later) product *= shape[later];
  return product;
}

/// The order with negative axes counted from the end. Throws ShapeError if it does not name every
/// axis of the shape once.
inline std::vector<int> checked_order(const Shape& shape, const std::vector<int>& order) {
  std::vector<int> axes, all;
  for (const int axis : order) axes.push_back(axis < 0 ? axis + shape.rank() : axis);
  for (int axis = 0; axis < shape.rank(); ++axis) all.push_back(axis);
  if (!std::is_permutation(axes.begin(), axes.end(), all.begin(), all.end())) {
    std::string listed;  // without fmt, which takes longer to compile than an answer
    for (const int axis : order) listed += (listed.empty() ? "" : ", ") + std::to_string(axis);
    throw ShapeError("permute: [" + listed + "] is not an order of the " +
                     std::to_string(shape.rank()) + " axes of " + shape.text());
  }
  return axes;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
