// Unfused versions of the fused operations, written with other operations only.
// They are the specification that tests compare the fused ones with, and the version to read first.
// Each has the name and the arguments of its fused operation, whose docstring names it.
#pragma once

#include "headroom/ops/activations.hpp"
#include "headroom/ops/attention.hpp"
#include "headroom/ops/losses.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace composed {

/// The functions of the same names in activations.hpp, reductions.hpp and other headers, which give
/// formulas and errors, composed of elementary operations.
Tensor relu(const Tensor& x);
Tensor gelu_tanh(const Tensor& x);
Tensor silu(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor mean(const Tensor& x, const std::vector<int>& axes = {}, bool keep = false);
/// Rank 2 by xtensor-blas; more axes one matrix at a time.
Tensor matmul(const Tensor& a, const Tensor& b);
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});
Tensor linear_side_by_side(const Tensor& x, const std::vector<Tensor>& weights,
                           const std::vector<Tensor>& biases);
Tensor softmax(const Tensor& x);
Tensor masked_softmax(const Tensor& x, const Bytes& allowed);
Tensor log_softmax(const Tensor& x);
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                  Real epsilon = Real(1e-5));
Tensor rms_norm(const Tensor& x, const Tensor& weight, Real epsilon = Real(1e-5));
Tensor embedding(const Tensor& table, const Ids& ids);
Tensor dropout(const Tensor& x, Real p, const MaskStream& stream);
Tensor cross_entropy(const Tensor& logits, const Ids& targets,
                     const CrossEntropyOptions& options = {});
Tensor squared_error(const Tensor& x, const Tensor& y, Reduction reduction = Reduction::mean);

/// The columns of the heads as one matrix per head: [B, T, *] -> [B, heads, T, width].
Tensor split_heads(const HeadColumns& columns, Index heads, Index width);
/// The heads side by side again: [B, heads, T, width] -> [B, T, heads * width].
Tensor merge_heads(const Tensor& heads);

/// Attention whose weights and head outputs are tensors on the tape.
struct Attention {
  Tensor y;         // [B, Tq, heads * value_dim]
  Tensor maps;      // [B, heads, Tq, Tk], before dropout
  Tensor head_out;  // [B, heads, Tq, value_dim]; y is these side by side
};
Attention attention(const HeadColumns& query, const HeadColumns& key, const HeadColumns& value,
                    Index heads, Index head_dim, Index value_dim, const AttentionOptions& options);

}  // namespace composed
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
