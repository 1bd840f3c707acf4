// The row of the fused attention: heads in one source or in several, every kind of mask, dropout.
#include "headroom/ops/attention.hpp"

#include <cmath>
#include <span>

#include "headroom/ops/composed.hpp"
#include "headroom/ops/dropout.hpp"
#include "ops/table/operation.hpp"
#include "ops/table/plain_attention.hpp"
#include "support/random.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

namespace {

using Predicate = std::function<bool(Index b, Index head, Index i, Index j)>;

struct Sizes {
  Index batch, heads, original_heads, queries, keys, head_dim, value_dim;
};

/// A mask and an independent definition of the pairs that it allows.
struct DrawnMask {
  AttentionMask mask;
  Predicate allows = [](Index, Index, Index, Index) { return true; };
};

DrawnMask draw_causal(Draw& draw) {
  const Index offset = draw.between(0, 2);
  return {AttentionMask::causal(offset),
          [=](Index, Index, Index i, Index j) { return j <= i + offset; }};
}

DrawnMask draw_lengths(Draw& draw, const Sizes& n) {
  const bool each_query = draw.chance(0.5);
  const Ids lengths =
      random_ids(each_query ? Shape{n.batch, n.queries} : Shape{n.batch}, draw.rng, n.keys + 1);
  return {AttentionMask::lengths(lengths), [=](Index b, Index, Index i, Index j) {
            return j < lengths[each_query ? b * n.queries + i : b];
          }};
}

DrawnMask draw_bytes(Draw& draw, const Sizes& n) {
  const Index rank = draw.between(2, 4);
  Shape shape{n.queries, n.keys};
  if (rank == 4) shape = shape.inserted(0, n.original_heads);
  if (rank >= 3) shape = shape.inserted(0, n.batch);
  const Bytes bytes = random_bytes(shape, draw.rng, Real(0.7));
  return {AttentionMask::allow(bytes), [=](Index b, Index head, Index i, Index j) {
            const Index matrix = rank == 2 ? 0 : rank == 3 ? b : b * n.original_heads + head;
            return bytes[(matrix * n.queries + i) * n.keys + j] != 0;
          }};
}

DrawnMask draw_mask(Draw& draw, const Sizes& n) {
  DrawnMask all;
  const auto add = [&all](const DrawnMask& more) {
    all.mask = all.mask & more.mask;
    all.allows = [a = all.allows, b = more.allows](Index e, Index h, Index i, Index j) {
      return a(e, h, i, j) && b(e, h, i, j);
    };
  };
  if (draw.chance(0.4)) add(draw_causal(draw));
  if (draw.chance(0.4)) add(draw_lengths(draw, n));
  if (draw.chance(0.4)) add(draw_bytes(draw, n));
  return all;
}

/// The columns of an input that a role reads.
struct Place {
  std::size_t input;
  Index first, width;
};

Array taken(const Array& source, const Place& place) {
  Array result(source.shape().with(2, place.width));
  for (Index e = 0; e < result.size(); ++e) {
    result[e] = source[e / place.width * source.dim(2) + place.first + e % place.width];
  }
  return result;
}

void put(Array& sum, const Array& gradient, const Place& place) {
  for (Index e = 0; e < gradient.size(); ++e) {
    sum[e / place.width * sum.dim(2) + place.first + e % place.width] += gradient[e];
  }
}

/// Columns of query, key and value: in three sources, in two, or all in one like the output of a
/// fused Linear, with unused columns around them.
struct Layout {
  std::vector<Place> places;  // of query, key, value
  Arrays inputs;
};

Layout draw_layout(Draw& draw, const Sizes& n) {
  const Index query_width = n.heads * n.head_dim, value_width = n.heads * n.value_dim;
  const Index gap = draw.between(0, 1);
  const auto source = [&](Index length, Index width) {
    return normal({n.batch, length, width}, draw.rng);
  };
  const Index both = query_width + gap + value_width;
  if (n.queries == n.keys && draw.chance(0.4)) {
    return {{{0, 0, query_width},
             {0, query_width, query_width},
             {0, 2 * query_width + gap, value_width}},
            {source(n.queries, query_width + both)}};
  }
  if (draw.chance(0.5)) {
    return {{{0, gap, query_width}, {1, 0, query_width}, {1, query_width + gap, value_width}},
            {source(n.queries, query_width + gap), source(n.keys, both)}};
  }
  return {{{0, 0, query_width}, {1, gap, query_width}, {2, 0, value_width}},
          {source(n.queries, query_width + gap), source(n.keys, query_width + gap),
           source(n.keys, value_width)}};
}

/// A score bias: its values, and an independent definition of the bias of each score.
struct DrawnBias {
  Array numbers;          // undefined: none
  Index first_query = 0;  // for slopes
  /// The bias of (b, original head, i, j) is element `element` times `factor`.
  struct Term {
    Index element;
    Real factor;
  };
  std::function<Term(Index b, Index head, Index i, Index j)> term = {};
};

DrawnBias draw_bias(Draw& draw, const Sizes& n) {
  const Index heads = n.original_heads;
  switch (draw.between(0, 2)) {
    case 0: {
      const Index first = draw.between(0, 3);
      return {normal({heads}, draw.rng), first, [=](Index, Index head, Index i, Index j) {
                return DrawnBias::Term{head, Real(-std::abs(i + first - j))};
              }};
    }
    case 1:
      return {normal({heads, n.queries, n.keys}, draw.rng), 0,
              [=](Index, Index head, Index i, Index j) {
                return DrawnBias::Term{(head * n.queries + i) * n.keys + j, 1};
              }};
    default:
      return {normal({n.batch, heads, n.queries, n.keys}, draw.rng), 0,
              [=](Index b, Index head, Index i, Index j) {
                return DrawnBias::Term{((b * heads + head) * n.queries + i) * n.keys + j, 1};
              }};
  }
}

/// The gradient of the bias from those of the scores, [B, heads, Tq, Tk], times `factor`. Sums over
/// examples that share an element, or (wrongly) takes only the last one.
Array bias_gradient(const DrawnBias& bias, const Array& scores, std::span<const Index> original,
                    Real factor, bool only_last) {
  Array sum = zeros(bias.numbers.shape());
  const Shape& shape = scores.shape();
  for (Index e = 0; e < scores.size(); ++e) {
    const Index j = e % shape[3], i = e / shape[3] % shape[2];
    const Index head = e / (shape[3] * shape[2]) % shape[1];
    const Index b = e / (shape[3] * shape[2] * shape[1]);
    if (only_last && bias.numbers.rank() != 4 && b != shape[0] - 1) continue;
    const auto [element, distance] = bias.term(b, original[static_cast<std::size_t>(head)], i, j);
    sum[element] += factor * distance * scores[e];
  }
  return sum;
}

Case draw_attention(Draw& draw, bool biased) {
  Sizes n{};
  n.original_heads = draw.between(1, 3);
  AttentionOptions options;
  for (Index h = 0; h < n.original_heads; ++h) {
    if (draw.chance(0.7)) options.original_heads.push_back(h);
  }
  if (options.original_heads.empty()) options.original_heads.push_back(n.original_heads - 1);
  options.original_count = n.original_heads;
  n.heads = Index(options.original_heads.size());
  n.batch = draw.large() ? draw.between(2, 4) : draw.between(draw.chance(0.05) ? 0 : 1, 2);
  n.queries = draw.large() ? draw.some() : draw.between(draw.chance(0.05) ? 0 : 1, 3);
  n.keys = draw.chance(0.5) ? n.queries
           : draw.large()   ? draw.some()
                            : draw.between(draw.chance(0.05) ? 0 : 1, 4);
  n.head_dim = draw.large() ? 16 : draw.between(1, 2);
  n.value_dim = draw.chance(0.5) ? n.head_dim : draw.large() ? 24 : draw.between(1, 3);
  const DrawnMask mask = draw_mask(draw, n);
  options.mask = mask.mask;
  options.scale = draw.chance(0.3) ? Real(0.7) : 0;
  options.dropout = draw.chance(0.25) ? Real(0.3) : 0;
  options.module = 17;
  Layout layout = draw_layout(draw, n);
  const DrawnBias bias = biased ? draw_bias(draw, n) : DrawnBias{};
  const std::size_t bias_input = layout.inputs.size();
  if (biased) layout.inputs.push_back(bias.numbers);
  options.first_query = bias.first_query;
  const auto with_bias = [=](const Tensors& x) {
    AttentionOptions complete = options;
    if (biased) complete.score_bias = x[bias_input];
    return complete;
  };

  const auto columns = [places = layout.places](const Tensors& x, std::size_t role) {
    return HeadColumns{x[places[role].input], places[role].first};
  };
  const PlainAttention unbiased{n.heads, n.head_dim, n.value_dim,
                                options.scale == 0
                                    ? 1 / std::sqrt(static_cast<long double>(n.head_dim))
                                    : static_cast<long double>(options.scale),
                                [allows = mask.allows, original = options.original_heads](
                                    Index b, Index head, Index i, Index j) {
                                  return allows(b, original[static_cast<std::size_t>(head)], i, j);
                                }};

  Case result;
  result.inputs = layout.inputs;
  result.operation = [=](const Tensors& x) {
    const RandomStep step(3, 4);
    return attention(columns(x, 0), columns(x, 1), columns(x, 2), n.heads, n.head_dim, n.value_dim,
                     with_bias(x));
  };
  result.composed = [=](const Tensors& x) {
    const RandomStep step(3, 4);
    return composed::attention(columns(x, 0), columns(x, 1), columns(x, 2), n.heads, n.head_dim,
                               n.value_dim, with_bias(x))
        .y;
  };
  if (options.dropout != 0) return result;  // plain loops and faults do not support dropout
  const auto role = [places = layout.places](const Arrays& x, std::size_t i) {
    return taken(x[places[i].input], places[i]);
  };
  // The plain loops with the bias of these inputs.
  const auto plain_attention = [=, original = options.original_heads](const Arrays& x) {
    PlainAttention complete = unbiased;
    if (!biased) return complete;
    complete.bias = [=](Index b, Index head, Index i, Index j) {
      const auto [element, factor] = bias.term(b, original[static_cast<std::size_t>(head)], i, j);
      return static_cast<long double>(factor) * static_cast<long double>(x[bias_input][element]);
    };
    return complete;
  };
  result.reference = [=](const Arrays& x) {
    return plain_attention(x).forward(role(x, 0), role(x, 1), role(x, 2));
  };
  const auto fault = [=](const char* name, bool PlainAttention::*part) {
    return Fault{name, [=](const BackwardView& b) {
                   PlainAttention wrong = plain_attention(b.x);
                   wrong.*part = false;
                   const auto gradients =
                       wrong.backward(role(b.x, 0), role(b.x, 1), role(b.x, 2), b.dy);
                   Arrays sums;
                   for (const Array& x : b.x) sums.push_back(zeros(x.shape()));
                   put(sums[layout.places[0].input], gradients.query, layout.places[0]);
                   put(sums[layout.places[1].input], gradients.key, layout.places[1]);
                   put(sums[layout.places[2].input], gradients.value, layout.places[2]);
                   if (biased) sums[bias_input] = b.right[bias_input];
                   return sums;
                 }};
  };
  result.faults = {fault("softmax's sum term is missing", &PlainAttention::with_sum_term),
                   fault("the scale is missing", &PlainAttention::with_scale),
                   fault("the mask is ignored", &PlainAttention::with_mask)};
  if (!biased) return result;
  const auto wrong_bias = [=, original = options.original_heads](const char* name, Real factor,
                                                                 bool only_last) {
    return Fault{name, [=](const BackwardView& b) {
                   const auto gradients = plain_attention(b.x).backward(role(b.x, 0), role(b.x, 1),
                                                                        role(b.x, 2), b.dy);
                   Arrays sums = b.right;
                   sums[bias_input] =
                       bias_gradient(bias, gradients.scores, original, factor, only_last);
                   return sums;
                 }};
  };
  result.faults.push_back(wrong_bias("the bias's gradient is scaled", Real(unbiased.scale), false));
  result.faults.push_back(wrong_bias("the bias's gradient is of the last example", 1, true));
  return result;
}

}  // namespace

std::vector<Row> attention_rows() {
  return {{"attention", "attention", [](Draw& draw) { return draw_attention(draw, false); }},
          {"attention with a score bias", "attention",
           [](Draw& draw) { return draw_attention(draw, true); }}};
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
