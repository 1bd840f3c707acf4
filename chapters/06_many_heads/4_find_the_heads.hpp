// Exercise 06/4: find the mistake. The file compiles, trains, and is not multi-head attention.
//
//   std::vector<Tensor> tutorial_weights(Index width, Index heads, Rng& rng)
//       The matrices of a new layer, C = width. Put one below the other, they must be W_Q, W_K and
//       W_V, [3 C, C]; how many matrices there are is up to you.
//   Tensor tutorial_heads(const Tensor& x, const std::vector<Tensor>& weights, Index heads)
//       The output of each head for x [B, T, C], [B, H, T, D]. No mask, no biases.
//
// The code follows a tutorial that many people have learned from. Make the checks green. You have
// everything that the file uses, and slice(x, axis, begin, end).
#pragma once

#include "common/answer.hpp"
#include "headroom/nn/init.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::vector<Tensor> tutorial_weights(Index width, Index heads, Rng& rng);
Tensor tutorial_heads(const Tensor& x, const std::vector<Tensor>& weights, Index heads);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
