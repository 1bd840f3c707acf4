// Parts of this chapter's exercises that are given: the elements of heads, and the options of an
// attention that no exercise is about.
#pragma once

#include <cstdlib>
#include <limits>
#include <sstream>
#include <string>

#include "common/answer.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/op_scope.hpp"
#include "headroom/ops/composed.hpp"

namespace chapter {

/// The heads in an array [B, T, *]: x(b, h, t, d) is feature d of token t, for head h of example b.
struct HeadView {
  HeadView(const headroom::HeadColumns& columns, headroom::Index width_of_head)
      : array(columns.source.value()), first(columns.first), width(width_of_head) {}
  HeadView(const headroom::Array& of, headroom::Index first_column, headroom::Index width_of_head)
      : array(of), first(first_column), width(width_of_head) {}

  headroom::Index at(headroom::Index b, headroom::Index h, headroom::Index t,
                     headroom::Index d) const {
    return (b * array.dim(1) + t) * array.dim(2) + first + h * width + d;
  }
  headroom::Real operator()(headroom::Index b, headroom::Index h, headroom::Index t,
                            headroom::Index d) const {
    return array[at(b, h, t, d)];
  }
  headroom::Real& operator()(headroom::Index b, headroom::Index h, headroom::Index t,
                             headroom::Index d) {
    return array[at(b, h, t, d)];
  }

  headroom::Array array;
  headroom::Index first, width;
};

/// One element for each query and key, [B, H, Tq, Tk]: x(b, h, i, j).
template <class T>
struct Pairs {
  explicit Pairs(const headroom::ArrayOf<T>& of) : array(of) {}

  headroom::Index at(headroom::Index b, headroom::Index h, headroom::Index i,
                     headroom::Index j) const {
    return ((b * array.dim(1) + h) * array.dim(2) + i) * array.dim(3) + j;
  }
  T operator()(headroom::Index b, headroom::Index h, headroom::Index i, headroom::Index j) const {
    return array[at(b, h, i, j)];
  }
  T& operator()(headroom::Index b, headroom::Index h, headroom::Index i, headroom::Index j) {
    return array[at(b, h, i, j)];
  }

  headroom::ArrayOf<T> array;
};

/// The sizes of an attention, with the defaults of its options filled in.
struct Sizes {
  headroom::Index batch, heads, queries, keys, head_dim, value_dim;
  headroom::Real scale;
  std::vector<headroom::Index> original_heads;
};

/// Text of parts that are written to a stream.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

inline void check_columns(const char* name, const headroom::HeadColumns& columns,
                          headroom::Index heads, headroom::Index width) {
  const headroom::Shape& shape = columns.source.shape();
  if (shape.rank() != 3) {
    throw headroom::ShapeError(
        text("attention: ", name, " ", shape.text(), " must be [B, T, width]"));
  }
  const headroom::Index end = columns.first + heads * width;
  if (columns.first >= 0 && end <= shape[2]) return;
  throw headroom::ShapeError(text("attention: ", name, " ", shape.text(), " has no room for ",
                                  heads, " heads of ", width, " columns from column ",
                                  columns.first, " on; that takes ", end));
}

/// The original numbers of the heads, of which there were `count`.
inline std::vector<headroom::Index> original_heads(headroom::Index heads, headroom::Index count,
                                                   const headroom::AttentionOptions& options) {
  std::vector<headroom::Index> result = options.original_heads;
  for (headroom::Index h = 0; options.original_heads.empty() && h < heads; ++h) {
    result.push_back(h);
  }
  if (std::ssize(result) != heads) {
    throw headroom::ShapeError(
        text("attention: ", std::ssize(result), " original heads are named for ", heads, " heads"));
  }
  for (const headroom::Index head : result) {
    if (head >= 0 && head < count) continue;
    throw headroom::ShapeError(
        text("attention: original head ", head, " is outside the ", count, " heads of masks"));
  }
  return result;
}

/// Throws ShapeError or UsageError when the arguments of an attention do not fit together, as the
/// library does.
inline Sizes check_attention(const headroom::HeadColumns& query, const headroom::HeadColumns& key,
                             const headroom::HeadColumns& value, headroom::Index heads,
                             headroom::Index head_dim, headroom::Index value_dim,
                             const headroom::AttentionOptions& options) {
  using namespace headroom;  // NOLINT: this header is for answers
  check_columns("query", query, heads, head_dim);
  check_columns("key", key, heads, head_dim);
  check_columns("value", value, heads, value_dim);
  const Shape &q = query.source.shape(), &k = key.source.shape(), &v = value.source.shape();
  if (q[0] != k[0] || q[0] != v[0] || k[1] != v[1]) {
    throw ShapeError(text("attention: query ", q.text(), ", key ", k.text(), " and value ",
                          v.text(), " must agree in batch size, and key and value in length"));
  }
  if (!(options.dropout >= 0 && options.dropout <= 1)) {
    throw UsageError(text("attention: dropout ", options.dropout,
                          " is not a probability; it must be in [0, 1]"));
  }
  const Index count = options.original_count == 0 ? heads : options.original_count;
  options.mask.check("attention", q[0], count, q[1], k[1]);
  if (options.score_bias.defined()) {
    const Shape& bias = options.score_bias.shape();
    if (bias != Shape{count} && bias != Shape{count, q[1], k[1]} &&
        bias != Shape{q[0], count, q[1], k[1]}) {
      throw ShapeError(text("attention: score_bias ", bias.text(),
                            " must be [H], [H, Tq, Tk] or [B, H, Tq, Tk] with B = ", q[0],
                            ", H = ", count, ", Tq = ", q[1], ", Tk = ", k[1]));
    }
  }
  const Real scale = options.scale != 0 ? options.scale : attention_scale(head_dim);
  return {q[0],     heads,     q[1],  k[1],
          head_dim, value_dim, scale, original_heads(heads, count, options)};
}

/// Scores [B, H, Tq, Tk] plus the score bias of the options, if there is one.
inline headroom::Tensor with_score_bias(const headroom::Tensor& scores, const Sizes& sizes,
                                        const headroom::AttentionOptions& options) {
  using namespace headroom;  // NOLINT: this header is for answers
  const Tensor& bias = options.score_bias;
  if (!bias.defined()) return scores;
  Ids heads(Shape{sizes.heads});
  for (Index h = 0; h < sizes.heads; ++h) {
    heads[h] = static_cast<std::int32_t>(at(sizes.original_heads, h));
  }
  const Tensor own = gather(bias, bias.rank() == 4 ? 1 : 0, heads);
  if (bias.rank() != 1) return scores + own;
  Array distances({sizes.queries, sizes.keys});
  for (Index e = 0; e < distances.size(); ++e) {
    distances[e] = Real(std::abs(e / sizes.keys + options.first_query - e % sizes.keys));
  }
  return scores - reshape(own, {sizes.heads, 1, 1}) * constant(distances);
}

/// The weights [B, H, Tq, Tk] with the dropout of the options; the weights themselves without.
inline headroom::Tensor with_dropout(const headroom::Tensor& maps, const Sizes& sizes,
                                     const headroom::AttentionOptions& options) {
  using namespace headroom;  // NOLINT: this header is for answers
  if (options.dropout == 0) return maps;
  std::vector<Tensor> dropped;
  for (Index h = 0; h < sizes.heads; ++h) {
    dropped.push_back(composed::dropout(slice(maps, 1, h, h + 1), options.dropout,
                                        mask_stream(options.module, at(sizes.original_heads, h))));
  }
  return concat(dropped, 1);
}

/// A mask that broadcasts to `shape`, as bytes of that shape. Throws ShapeError.
inline headroom::Bytes spread(const headroom::Bytes& allowed, const headroom::Shape& shape) {
  using namespace headroom;  // NOLINT: this header is for answers
  if (allowed.shape() == shape) return allowed;
  if (!broadcasts_to(allowed.shape(), shape)) {
    throw ShapeError("masked_softmax: allowed " + allowed.shape().text() +
                     " does not broadcast to x " + shape.text());
  }
  Bytes result(shape);
  for (Index i = 0; i < result.size(); ++i) {
    Index from = 0, stride = 1, rest = i;
    for (int axis = 1; axis <= allowed.rank(); ++axis) {
      if (allowed.dim(-axis) != 1) from += rest % shape[-axis] * stride;
      rest /= shape[-axis];
      stride *= allowed.dim(-axis);
    }
    result[i] = allowed[from];
  }
  return result;
}

}  // namespace chapter
