// Copies with the axes in another order.
#pragma once

#include <span>

#include "headroom/base/shape.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// y = x with axis i of y being axis order[i] of x; x is contiguous with the given shape, `order` a
/// permutation of its axes. Axes that stay together are treated as one: [B, T, H, D] to
/// [B, H, T, D] copies rows of D, a plain transpose goes in square blocks.
void permute_axes(const Real* x, const Shape& shape, std::span<const int> order, Real* y);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
