// Scaled dot-product attention of every head of every example, without storing its weights.
#pragma once

#include <vector>

#include "headroom/array/array.hpp"
#include "headroom/base/rng.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

/// Sizes, mask, bias and dropout of one attention call.
struct AttentionPlan {
  Index batch, heads, queries, keys, head_dim, value_dim;
  Real scale;
  Ids limits;                       // [B, Tq]: the leading keys that causality and lengths allow
  bool limits_differ;               // between the queries of an example
  Bytes allowed;                    // the byte mask, or undefined
  std::vector<Index> allowed_at;    // [B, H]: where in `allowed` a head's [Tq, Tk] starts
  Real dropout;                     // of the weights; 0: none
  std::vector<MaskStream> streams;  // [H], when there is dropout
  /// Added to the scaled scores: a table [H', Tq, Tk] or [B, H', Tq, Tk], or slopes [H'], where H'
  /// may count more heads than these; undefined: nothing. A slope's bias of query i and key j is
  /// -slope |i + first_query - j|.
  Array score_bias = {};
  std::vector<Index> score_bias_at = {};  // [B, H]: where a head's [Tq, Tk], or slope, starts
  Index first_query = 0;
};

/// The columns of all heads in an array [B, T, width]: row t of head h of example b starts at
/// data + (b T + t) stride + h width of a head.
struct HeadRows {
  const Real* data;
  Index stride;
};

/// A gradient, laid out as HeadRows. Without `add`, the heads' columns hold garbage and are
/// overwritten. data is nullptr when the gradient is not wanted.
struct HeadGradient {
  Real* data = nullptr;
  Index stride = 0;
  bool add = true;
};

/// Per row of weights before dropout, [B, H, Tq].
struct AttentionRowsOut {
  Real *log_sum_exp, *entropy, *maximum;
  std::int32_t* allowed;  // how many keys the row may attend to
};

/// y [B, Tq, H Dv] = softmax(scale Q K^T + bias, over allowed keys) V, head by head; log_sum_exp
/// [B, H, Tq].
void attention(const AttentionPlan& plan, HeadRows query, HeadRows key, HeadRows value, Real* y,
               Real* log_sum_exp);

/// Statistics of the weights' rows, from the scores alone: the product with V is not computed.
void attention_rows(const AttentionPlan& plan, HeadRows query, HeadRows key,
                    const AttentionRowsOut& rows);

/// With S = scale Q K^T + bias, P = e^(S - log_sum_exp) and delta_i = sum_d dy_id y_id:
///   dV = P^T dy,  dP = dy V^T,  dS = P (dP - delta),  dQ = scale dS K,  dK = scale dS^T Q,
///   dbias = dS, summed over the examples that share a table; dslope = -sum_ij |i + first - j|
///   dS_ij.
/// Under dropout, with factors m: dV = (P m)^T dy and dS = P (m dP - delta); delta stays, because
/// sum_j P_ij m_ij dP_ij = sum_d dy_id y_id. `dscore_bias` has the shape of the bias and is added
/// to; nullptr: not wanted.
void attention_backward(const AttentionPlan& plan, HeadRows query, HeadRows key, HeadRows value,
                        const Real* y, const Real* log_sum_exp, const Real* dy, HeadGradient dquery,
                        HeadGradient dkey, HeadGradient dvalue, Real* dscore_bias = nullptr);

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
