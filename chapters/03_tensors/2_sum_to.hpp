// Exercise 03/2: write the way back of broadcasting.
//
//   Array sum_to(const Array& dy, const Shape& shape)      dy [2, 4, 3], shape [4, 1] -> [4, 1]
//
// An array of `shape` was repeated until it had the shape of dy. Each of its elements gets the sum
// of dy over its copies. Shapes are aligned at the last axis; `shape` has as many axes as dy or
// fewer, and each is as long as that of dy or 1. You have:
//
//   dy[i], dy.size()             the elements of dy in row-major order: the last axis is the
//                                fastest, so i % dy.dim(-1) is the position of i along the last
//                                axis, and i / dy.dim(-1) goes on with the axes before it
//   dy.dim(-1), shape[-1]        the size of the last axis, -2 of the one before, and so on
//   shape.rank()                 the number of axes
//   zeros(shape)                 an array of zeros. Array(shape) is not initialised
//
// The function is private in the library, where every operator that broadcasts calls it.
#pragma once

#include "common/answer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Array sum_to(const Array& dy, const Shape& shape);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
