// Sums, means and extremes over axes.
#pragma once

#include <vector>

#include "headroom/autograd/tensor.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Which axes a reduction runs over; empty means all. Negative axes count from the end.
using Axes = std::vector<int>;

/// Sum over axes; keep leaves them in the shape with size 1. The sum over nothing is 0.
/// Throws ShapeError for an axis that does not exist or is named twice.
Tensor sum(const Tensor& x, const Axes& axes = {}, bool keep = false);
/// Mean over axes. Throws ShapeError over an empty axis. Unfused: composed::mean.
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keep = false);
/// Largest or smallest element over axes; ties share the gradient equally. Throws ShapeError over
/// an empty axis.
Tensor max(const Tensor& x, const Axes& axes = {}, bool keep = false);
Tensor min(const Tensor& x, const Axes& axes = {}, bool keep = false);

/// Position of the largest element along the last axis, the first of equals. No gradient.
Ids argmax(const Array& x);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
