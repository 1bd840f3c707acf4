// Dropout of contiguous elements; forward and backward are the same function.
#pragma once

#include "headroom/base/rng.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

/// Scale of kept elements, 1 / (1 - p).
inline Real dropout_scale(Real p) { return p < 1 ? 1 / (1 - p) : Real(0); }

/// factors_i = 1 / (1 - p) where stream.uniform(first + i) >= p, else 0, for i < n.
void dropout_factors(const MaskStream& stream, Index first, Index n, Real p, Real* factors);

/// y_e (+)= x_e / (1 - p) where stream.uniform(e) >= p, else 0; `add` tells whether y has a sum
/// already.
void dropout(const Real* x, Index n, Real p, const MaskStream& stream, bool add, Real* y);

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
