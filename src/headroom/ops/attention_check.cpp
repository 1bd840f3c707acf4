// The checks of fused and composed attention, and the default of their scale.
#include "ops/attention_check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

void check_columns(const char* name, const HeadColumns& columns, Index heads, Index width) {
  if (columns.source.rank() != 3) {
    throw ShapeError(
        fmt::format("attention: {} {} must be [B, T, width]", name, columns.source.shape().text()));
  }
  if (columns.first < 0 || columns.first + heads * width > columns.source.dim(-1)) {
    throw ShapeError(fmt::format(
        "attention: {} {} has no room for {} heads of {} columns from column {} on; that takes {}",
        name, columns.source.shape().text(), heads, width, columns.first,
        columns.first + heads * width));
  }
}

std::vector<Index> original_heads(Index heads, Index original_count,
                                  const AttentionOptions& options) {
  std::vector<Index> result = options.original_heads;
  if (result.empty()) {
    result.resize(static_cast<std::size_t>(heads));
    std::iota(result.begin(), result.end(), Index{0});
  }
  if (Index(result.size()) != heads) {
    throw ShapeError(
        fmt::format("attention: {} original heads are named for {} heads", result.size(), heads));
  }
  for (const Index head : result) {
    if (head < 0 || head >= original_count) {
      throw ShapeError(fmt::format("attention: original head {} is outside the {} heads of masks",
                                   head, original_count));
    }
  }
  return result;
}

void check_score_bias(const AttentionOptions& options, Index batch, Index heads, Index queries,
                      Index keys) {
  if (!options.score_bias.defined()) return;
  const Shape& shape = options.score_bias.shape();
  if (shape == Shape{heads} || shape == Shape{heads, queries, keys} ||
      shape == Shape{batch, heads, queries, keys}) {
    return;
  }
  throw ShapeError(
      fmt::format("attention: score_bias {} must be [H], [H, Tq, Tk] or [B, H, Tq, Tk] with "
                  "B = {}, H = {}, Tq = {}, Tk = {}",
                  shape.text(), batch, heads, queries, keys));
}

}  // namespace

Real attention_scale(Index head_dim) { return 1 / std::sqrt(Real(head_dim)); }

AttentionSizes check_attention(const HeadColumns& query, const HeadColumns& key,
                               const HeadColumns& value, Index heads, Index head_dim,
                               Index value_dim, const AttentionOptions& options) {
  check_columns("query", query, heads, head_dim);
  check_columns("key", key, heads, head_dim);
  check_columns("value", value, heads, value_dim);
  const Shape &q = query.source.shape(), &k = key.source.shape(), &v = value.source.shape();
  if (q[0] != k[0] || q[0] != v[0] || k[1] != v[1]) {
    throw ShapeError(
        fmt::format("attention: query {}, key {} and value {} must agree in batch size, and key "
                    "and value in length",
                    q.text(), k.text(), v.text()));
  }
  if (!(options.dropout >= 0 && options.dropout <= 1)) {
    throw UsageError(fmt::format("attention: dropout {} is not a probability; it must be in [0, 1]",
                                 options.dropout));
  }
  const Index original_count = options.original_count == 0 ? heads : options.original_count;
  options.mask.check("attention", q[0], original_count, q[1], k[1]);
  check_score_bias(options, q[0], original_count, q[1], k[1]);
  const Real scale = options.scale != 0 ? options.scale : attention_scale(head_dim);
  return {q[0],     heads,     q[1],  k[1],
          head_dim, value_dim, scale, original_heads(heads, original_count, options)};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
