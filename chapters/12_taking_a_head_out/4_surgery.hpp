// Exercise 12/4, find the mistakes: 4_surgery.cpp is complete. It compiles, the heads are gone, the
// layer is smaller, and the loss falls when training goes on. It also has two mistakes. Make the
// checks pass, and change as little as possible.
//
//   Tensor attend(const SmallAttention& layer, const Tensor& x)
//   void remove_heads(SmallAttention& layer, const std::vector<Index>& positions)
//
// It is a layer as many small projects have it: four parameters, and an optimizer that was given
// these four tensors before the removal and keeps them. The positions are among the heads that the
// layer has now. What has to hold afterwards:
//
//   * The layer computes what it computed with the gates of these heads closed.
//   * The optimizer that was there before moves all four parameters.
//
// remove_heads is called right after a step, so gradients may be dropped; the optimizer is SGD
// without moments.
#pragma once

#include "common/answer.hpp"
#include "headroom/algebra/algebra.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Self-attention of `heads` heads, all of one size D.
struct SmallAttention {
  Index heads = 0;
  Tensor in_weight;   // [3 heads D, C]: queries, keys, values
  Tensor in_bias;     // [3 heads D]
  Tensor out_weight;  // [C, heads D]
  Tensor out_bias;    // [C]
};

Tensor attend(const SmallAttention& layer, const Tensor& x);
void remove_heads(SmallAttention& layer, const std::vector<Index>& positions);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
