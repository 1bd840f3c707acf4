// Sums and extremes over axes.
#pragma once

#include <array>

#include "headroom/array/array.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// How a reduction combines two elements. max and min return NaN when either is NaN.
enum class Fold { sum, max, min };

/// Which axes a reduction runs over.
using AxisFlags = std::array<bool, Shape::max_rank>;

/// y[o, i] = fold over j of x[o, j, i], for contiguous x [outer, n, inner] and y [outer, inner].
/// The sum over n = 0 is 0; an extreme needs n > 0. Long axes are folded in pieces whose borders
/// depend on the sizes only, then the pieces in order: the same bits on any number of threads.
void fold_middle(Fold fold, const Real* x, Index outer, Index n, Index inner, Real* y);

/// Folds the flagged axes, which stay in the shape with size 1.
Array fold_axes(Fold fold, const Array& x, const AxisFlags& axes);

/// The transpose of broadcasting: sums x over the axes along which `shape` was repeated to become
/// the shape of x.
Array sum_to(const Array& x, const Shape& shape);

/// Sum over all axes but the last: [..., C] -> [C], the gradient of a bias.
Array column_sums(const Array& x);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
