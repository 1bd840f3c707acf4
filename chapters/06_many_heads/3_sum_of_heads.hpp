// Exercise 06/3: write the output of an attention as a sum over its heads.
//
//   Tensor sum_of_heads(const Tensor& heads, const Linear& out)
//
//   y = b_O + A_0 W_O^0 + A_1 W_O^1 + ...       [B, T, C]
//
// A_h [B, T, D] is what head h found; `heads` [B, live, T, D] has all that are left. `out` is the
// layer's last Linear. In memory W_O is transposed, as the weight of every Linear: out.weight is
// [C, live * D], and live head number i owns the columns [i D, (i + 1) D). You have:
//
//   heads.dim(axis)              the sizes: heads.dim(1) is live, heads.dim(3) is D
//   out.bias                     b_O [C]; undefined in a layer without biases
//   slice(x, axis, begin, end)   keeps the axis: slice(heads, 1, i, i + 1) is [B, 1, T, D]
//   reshape(x, {B, T, D})        the same elements in another shape
//   linear(x, weight)            x W^T, for x [..., D] and weight [C, D]
#pragma once

#include "common/answer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor sum_of_heads(const Tensor& heads, const Linear& out);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
