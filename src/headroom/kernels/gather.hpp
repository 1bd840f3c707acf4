// Moving rows: blocks out of and into larger arrays, and rows picked by position.
#pragma once

#include <cstdint>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Copies (or adds) `rows` rows of `width` numbers between matrices of different row strides: what
/// slice and concat do.
void copy_block(const Real* x, Index x_stride, Index rows, Index width, Real* y, Index y_stride);
void add_block(const Real* x, Index x_stride, Index rows, Index width, Real* y, Index y_stride);

/// y[o, i, :] = x[o, positions[i], :] for x [outer, n, inner] and y [outer, count, inner].
/// The positions must lie in [0, n).
void gather_rows(const Real* x, Index outer, Index n, Index inner, const std::int32_t* positions,
                 Index count, Real* y);

/// dx[o, positions[i], :] += dy[o, i, :], the transpose of gathering. Repeated positions add up in
/// order: threads share columns and outer blocks, never a row.
void scatter_add_rows(const Real* dy, Index outer, Index n, Index inner,
                      const std::int32_t* positions, Index count, Real* dx);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
