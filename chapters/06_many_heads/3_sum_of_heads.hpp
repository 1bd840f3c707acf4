// Exercise 06/3: write the output of an attention as a sum over its heads.
//
//   Tensor sum_of_heads(const SeparateHeads& layer, const Tensor& x)
//
//   y = b_O + A_0 W_O^0 + A_1 W_O^1 + ...       [B, T, C], the self-attention of x without a mask
//
// A_h is what head h found, [B, T, D]. In memory W_O is transposed, as the weight of every Linear:
// layer.out.weight is [C, live * D], and live head number i owns the columns [i D, (i + 1) D).
// You have:
//
//   AttentionAsk ask;            asks a layer for more than its output. With ask.head_out = true,
//   layer(x, x, x, AttentionMask::none(), ask).head_out     is [B, live, T, D]
//   layer.alive().size()         the number of heads that are left, live
//   layer.head_dim()             D
//   layer.out.bias               b_O [C]; undefined in a layer without biases
//   slice(x, axis, begin, end)   keeps the axis: slice(x, 1, i, i + 1) of [B, live, T, D] is
//                                [B, 1, T, D]
//   linear(x, weight)            x W^T, for x [..., D] and weight [C, D]
#pragma once

#include "common/answer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor sum_of_heads(const SeparateHeads& layer, const Tensor& x);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
