// Exercise 11/1: write apply_gates, which multiplies the output of each head by its gate.
//
//   Tensor apply_gates(const Tensor& y, const Tensor& gates, std::span<const Index> alive,
//                      Index heads)
//
// y [B, Tq, L D] has the outputs of the L live heads side by side, before W_O: live head number l
// has the columns l D to (l + 1) D. `alive` has the original number of each, {0, 2, 3} after head 1
// was removed. Gates are those of all H = `heads` original heads:
//   gates [H]          result[b, t, l D + d] = y[b, t, l D + d] gates[alive[l]]
//   gates [B, H]       ... gates[b, alive[l]]
//   gates [B, H, Tq]   ... gates[b, alive[l], t]
// Both y and gates need their gradients; operations on tensors give them. You have:
//   gather(x, axis, Ids)           the slices of x at these indices, in this order
//   reshape(x, {sizes}), permute(x, {axes})
//   a * b                          elementwise; axes of size 1 are repeated
// Shapes are checked already, and `numbers` has the elements of `alive` as Ids.
#pragma once

#include <span>

#include "common/answer.hpp"
#include "headroom/base/error.hpp"
#include "headroom/nn/gates.hpp"
