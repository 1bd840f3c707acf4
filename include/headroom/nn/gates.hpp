// Gates of heads: factors of the heads' outputs.
#pragma once

#include <span>

#include "headroom/autograd/tensor.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Multiplies the columns of each head in y [B, Tq, L D] by the head's gate. L = alive.size() heads
/// are live and `alive` has their original indices: live head l has the columns l D, ..., l D + D
/// - 1 and the gate of head alive[l]. The gates are those of all H = `heads` original heads:
///
///   gates [H]         result[b, t, l D + d] = y[b, t, l D + d] gates[alive[l]]
///   gates [B, H]      ... gates[b, alive[l]]
///   gates [B, H, Tq]  ... gates[b, alive[l], t]
///
/// Gates of removed heads have no effect; their gradient is 0. The gradient of a gate is the sum of
/// dy times y over all elements that it multiplies. Throws ShapeError when the shapes do not fit.
Tensor apply_gates(const Tensor& y, const Tensor& gates, std::span<const Index> alive, Index heads);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
