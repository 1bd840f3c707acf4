// Gates of heads: factors of the heads' outputs.
#pragma once

#include <cstdint>
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

/// The product of two gates of one attention, each [H], [B, H] or [B, H, Tq]; it has the shape with
/// more axes. An undefined tensor stands for gates of 1. Throws ShapeError when the sizes differ.
Tensor product_of_gates(const Tensor& a, const Tensor& b);

/// Gates [B, H] of DropHead: for each example and head 0 with probability p, else 1 / (1 - p), so
/// that their mean is 1. The gates of a head are the numbers of mask_stream(module, head), element
/// b for example b: they do not depend on which other heads are alive. Zhou et al. 2020, "Scheduled
/// DropHead", which scales by H / (number of kept heads) instead. Throws UsageError for p outside
/// [0, 1), and without a RandomStep.
Tensor drop_head_gates(Index batch, Index heads, Real p, std::uint64_t module);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
