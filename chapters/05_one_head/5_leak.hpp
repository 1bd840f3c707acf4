// Exercise 05/5, find the leak: 5_leak.cpp is complete. It compiles, its loss falls, and its map is
// 0 above the diagonal. Still, some outputs know about later tokens. Make the checks pass, and
// change as little as possible.
//
//   Tensor mean_over(const Tensor& x, const Bytes& allowed)
//   Seen attend(const MeasuredAttention& layer, const Tensor& x)
//
// It is a causal attention of one head. Its author did not trust 1/sqrt(D), because the vectors of
// a trained model do not have variance 1. So the scores are not multiplied by a fixed number: the
// deviation of each row is measured, and the row is divided by it. The layer promises two things:
//
//   * Output i depends on the tokens 0 to i and on nothing else.
//   * The scores that a query weighs have mean 0 and deviation 1. So the map stays the same when
//     all queries become three times as long. The deviation depends on the queries and keys, and
//     so the gradients go through it as well.
#pragma once

#include "common/answer.hpp"
#include "headroom/ops/attention_mask.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Three matrices [C, C], applied by linear().
struct MeasuredAttention {
  Tensor query, key, value;
};

struct Seen {
  Tensor y;    // [B, T, C]
  Tensor map;  // [B, T, T]
};

/// The mean of the allowed elements of each row, [B, T, 1]. allowed [T, T] is the same for all
/// examples.
Tensor mean_over(const Tensor& x, const Bytes& allowed);

Seen attend(const MeasuredAttention& layer, const Tensor& x);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
