// Attention, composed of other operations: the formula, each intermediate a tensor on the tape.
#include <algorithm>
#include <cstdlib>

#include "headroom/base/at.hpp"
#include "headroom/ops/composed.hpp"
#include "headroom/ops/ops.hpp"
#include "ops/attention_check.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace composed {

namespace {

/// Dropout of the weights [B, heads, Tq, Tk], each head by its own stream.
Tensor drop_per_head(const Tensor& weights, const AttentionSizes& sizes,
                     const AttentionOptions& options) {
  if (options.dropout == 0 || sizes.heads == 0) return weights;
  std::vector<Tensor> dropped;
  for (Index h = 0; h < sizes.heads; ++h) {
    const Index original = at(sizes.original_heads, h);
    dropped.push_back(composed::dropout(slice(weights, 1, h, h + 1), options.dropout,
                                        mask_stream(options.module, original)));
  }
  return concat(dropped, 1);
}

/// The score bias as a summand of [B, heads, Tq, Tk].
Tensor score_bias(const AttentionSizes& sizes, const AttentionOptions& options) {
  const Tensor& bias = options.score_bias;
  Ids heads(Shape{sizes.heads});
  std::transform(sizes.original_heads.begin(), sizes.original_heads.end(), heads.data(),
                 [](Index head) { return static_cast<std::int32_t>(head); });
  const Tensor own = gather(bias, bias.rank() == 4 ? 1 : 0, heads);
  if (bias.rank() != 1) return own;
  Array distances({sizes.queries, sizes.keys});
  for (Index e = 0; e < distances.size(); ++e) {
    const Index i = e / sizes.keys, j = e % sizes.keys;
    distances[e] = Real(std::abs(i + options.first_query - j));
  }
  return reshape(own, {sizes.heads, 1, 1}) * constant(distances) * Real(-1);
}

}  // namespace

Tensor split_heads(const HeadColumns& columns, Index heads, Index width) {
  const Tensor& source = columns.source;
  const Tensor own = slice(source, 2, columns.first, columns.first + heads * width);
  return permute(reshape(own, {source.dim(0), source.dim(1), heads, width}), {0, 2, 1, 3});
}

Tensor merge_heads(const Tensor& heads) {
  const Tensor by_row = permute(heads, {0, 2, 1, 3});  // [B, T, heads, width]
  return reshape(by_row, {heads.dim(0), heads.dim(2), heads.dim(1) * heads.dim(3)});
}

Attention attention(const HeadColumns& query, const HeadColumns& key, const HeadColumns& value,
                    Index heads, Index head_dim, Index value_dim, const AttentionOptions& options) {
  const AttentionSizes sizes =
      check_attention(query, key, value, heads, head_dim, value_dim, options);
  const Tensor q = split_heads(query, heads, head_dim);   // [B, H, Tq, D]
  const Tensor k = split_heads(key, heads, head_dim);     // [B, H, Tk, D]
  const Tensor v = split_heads(value, heads, value_dim);  // [B, H, Tk, Dv]
  Tensor scores = headroom::matmul(q, transpose(k)) * sizes.scale;
  if (options.score_bias.defined()) scores = scores + score_bias(sizes, options);
  const Tensor maps =
      options.mask.is_none()
          ? composed::softmax(scores)
          : composed::masked_softmax(scores, options.mask.bytes(sizes.batch, sizes.original_heads,
                                                                sizes.queries, sizes.keys));
  const Tensor head_out = headroom::matmul(drop_per_head(maps, sizes, options), v);
  return {merge_heads(head_out), maps, head_out};
}

}  // namespace composed
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
