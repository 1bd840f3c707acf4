// The gradients of attention derived by hand, line by line, and those of the tape. Private.
#pragma once

#include "headroom/array/array.hpp"
#include "headroom/base/rng.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Attention as the Annotated Transformer writes it, without an output Linear: y = heads of
/// softmax(Q_h K_h^T / sqrt(D)) V_h side by side, with Q = x W_Q, K = x W_K, V = x W_V.
struct AttentionInputs {
  Array x;                  // [B, T, C]
  Array query, key, value;  // W_Q, W_K, W_V, [C in, C out]: head h has columns [hD, (h + 1)D)
  Array cotangent;          // dL/dy, [B, T, C]
};

/// Uniform in [0, 1), as torch.rand draws them; the cotangent is normal.
AttentionInputs uniform_inputs(Index batch, Index tokens, Index width, Rng& rng);
/// x and cotangent N(0, 1), weights N(0, 1/C).
AttentionInputs zero_mean_inputs(Index batch, Index tokens, Index width, Rng& rng);

/// All intermediate results of the derivation, [B, H, T, T] or [B, H, T, D]. H = 1 is single-head
/// attention.
struct AttentionDerivation {
  Array query, key, value;   // Q, K, V by head
  Array scores, weights, y;  // S, P; y [B, T, C]
  Array d_value;             // dV = P^T dO
  Array d_weights;           // dP = dO V^T
  Array d_scores;            // dS = P * (dP - rowsum(P * dP))
  Array d_query, d_key;      // dQ = dS K / sqrt(D), dK = dS^T Q / sqrt(D)
  Array d_wq, d_wk, d_wv;    // x^T dQ, x^T dK, x^T dV, summed over the batch, [C, C]
  Array d_x;                 // dQ W_Q^T + dK W_K^T + dV W_V^T
};
AttentionDerivation derive(const AttentionInputs& inputs, Index heads);

/// dS of softmax for given weights P and dP, row by row.
Array softmax_backward(const Array& weights, const Array& d_weights);

/// Output and weights alone.
struct AttentionForward {
  Array y, weights;  // [B, T, C], [B, H, T, T]
};
AttentionForward attended(const AttentionInputs& inputs, Index heads);

/// The same from the tape: output, weights, and the gradients of <cotangent, y>.
struct TapedAttention {
  Array y, weights;  // [B, T, C], [B, H, T, T]
  Array d_wq, d_wk, d_wv, d_x;
};
TapedAttention taped(const AttentionInputs& inputs, Index heads);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
