// Parts of this chapter's exercises that are given: the elements of heads, and the options of an
// attention that no exercise is about.
#pragma once

#include <cstdlib>
#include <limits>

#include "../../src/ops/attention_check.hpp"
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

/// Scores [B, H, Tq, Tk] plus the score bias of the options, if there is one.
inline headroom::Tensor with_score_bias(const headroom::Tensor& scores,
                                        const headroom::AttentionSizes& sizes,
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
inline headroom::Tensor with_dropout(const headroom::Tensor& maps,
                                     const headroom::AttentionSizes& sizes,
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
