// Scaled dot-product attention over all heads at once, masked, without storing its weights.
#pragma once

#include <vector>

#include "headroom/autograd/tensor.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/ops/attention_mask.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Where the columns of the heads are in a tensor [B, T, width]: head number h owns `head_width`
/// columns starting at first + h * head_width. One source may serve query, key and value at once (a
/// fused Linear's output), so heads are never copied apart.
struct HeadColumns {
  Tensor source;
  Index first = 0;
};

/// Mask, scale, dropout and score bias of one attention call.
struct AttentionOptions {
  AttentionMask mask = {};
  Real scale = 0;  // 0: attention_scale(head_dim)
  std::vector<Index> original_heads =
      {};                    // original index of each head; empty: 0, 1, ..., heads - 1
  Index original_count = 0;  // H of masks; 0: as many as there are heads
  Real dropout = 0;          // on the attention weights; 0: none
  std::uint64_t module = 0;  // names the mask stream of that dropout
  /// Added to the scaled scores before the softmax; undefined: nothing. H counts original heads, as
  /// in masks. A table [H, Tq, Tk] (for all examples) or [B, H, Tq, Tk]; or a slope of each head,
  /// [H], whose bias of query i and key j is -slope |i + first_query - j|. Under a causal mask that
  /// is ALiBi (Press et al. 2022, section 3); without one it is symmetric. The numbers must be
  /// finite: a mask is for forbidding keys.
  Tensor score_bias = {};
  Index first_query = 0;  // position of query 0, for slopes; key j is at position j
};

/// Row statistics of attention weights, [B, H, Tq]; see attention_rows(). Rows with nothing allowed
/// have log_sum_exp -infinity, entropy 0, maximum 0.
struct AttentionRows {
  Array log_sum_exp;  // of the scaled scores over the allowed keys
  Array entropy;      // -sum_j P_j log P_j, in nats, before dropout
  Array maximum;      // the largest weight, before dropout
  Ids allowed;        // how many keys the row may attend to
};

/// 1 / sqrt(head_dim), the scale of the scores: a product of two vectors of D independent elements
/// with mean 0 and variance 1 has variance D. Vaswani et al. 2017, section 3.2.1.
Real attention_scale(Index head_dim);

/// For each head, A = softmax(Q K^T * scale + score_bias, over allowed keys) V. Vaswani et al.
/// 2017, equation 1. query.source [B, Tq, *], key.source and value.source [B, Tk, *]. Masked keys
/// are skipped, not added to; a row with nothing allowed gives 0 and gradient 0; keys and values
/// that no query may attend to are never read. Returns the heads side by side, [B, Tq, heads *
/// value_dim]. The backward pass computes the weights again from the log-sum-exp of each row.
/// Throws ShapeError. Unfused: composed::attention.
Tensor attention(const HeadColumns& query, const HeadColumns& key, const HeadColumns& value,
                 Index heads, Index head_dim, Index value_dim, const AttentionOptions& options);

/// The row statistics of the weights that attention() computes from the same arguments, before
/// dropout; no gradient. Costs the scores once more. Throws ShapeError.
AttentionRows attention_rows(const HeadColumns& query, const HeadColumns& key, Index heads,
                             Index head_dim, const AttentionOptions& options);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
