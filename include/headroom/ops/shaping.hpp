// Operations that move elements and compute nothing.
#pragma once

#include <initializer_list>
#include <vector>

#include "headroom/autograd/tensor.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The same elements in row-major order under another shape; one size may be -1 and is worked out.
/// Shares the buffer. Throws ShapeError when the sizes differ.
Tensor reshape(const Tensor& x, std::initializer_list<Index> sizes);
Tensor reshape(const Tensor& x, const Shape& shape);
/// Axis i of the result is axis order[i] of x. Throws ShapeError unless order is a permutation.
Tensor permute(const Tensor& x, const std::vector<int>& order);
/// Two axes exchanged.
Tensor transpose(const Tensor& x, int a = -2, int b = -1);
/// Elements [begin, end) along an axis. Throws ShapeError outside the axis.
Tensor slice(const Tensor& x, int axis, Index begin, Index end);
/// One after the other along an axis; all other sizes must be equal. Throws ShapeError.
Tensor concat(const std::vector<Tensor>& parts, int axis);
/// Like concat, along a new axis; all shapes must be equal.
Tensor stack(const std::vector<Tensor>& parts, int axis);
/// The inverse of concat: consecutive pieces of the given sizes, which must add up to the axis.
std::vector<Tensor> split(const Tensor& x, const std::vector<Index>& sizes, int axis);
/// Slices of x along an axis, selected by position, in that order; a position may occur more than
/// once, then its gradients add up. positions [n] -> the axis gets size n. Throws ShapeError out of
/// range.
Tensor gather(const Tensor& x, int axis, const Ids& positions);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
