// Scores of all heads in one pass over the keys, outputs of all heads in one pass over the values.
//
// For one example, with H heads side by side in every row of query, keys and values:
//
//   S [H, keys] = scale <q_h [D], k_jh [D]> + bias, in the order of memory: key by key, head by
//   head P [H, keys] = softmax(S), row by row, over the leading keys that the limit allows y [H
//   Dv]: y_c = sum_j P_hj v_jc, where column c belongs to head h = c / Dv
//
// There is no backward pass of its own: attention_backward() serves, since log_sum_exp is the same.
#include "kernels/one_query.hpp"

#include <algorithm>
#include <iterator>

#include "headroom/base/parallel.hpp"
#include "kernels/lane_sums.hpp"
#include "kernels/score_bias.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

namespace {

/// Adjacent heads of one example. Row t of their keys or values starts at data + t stride, head
/// after head.
struct Heads {
  Index count, keys;  // and the keys that they may attend to
  Index head_dim, value_dim;
  Index weight_stride;  // between the heads' rows of weights
};

/// Steps through the heads of key 0, then those of key 1 ...: the order of memory.
struct Place {
  Index key = 0, head = 0;
  void advance(const Heads& heads) {
    if (++head == heads.count) {
      head = 0;
      ++key;
    }
  }
};

/// The products of a head's query [D] with one of its keys [D], to be summed over the lanes.
inline Batch lane_products(const Real* query, const Real* key, Index n) {
  Batch sum(Real(0));
  for (Index i = 0; i < n; i += batch_size) {
    sum = xsimd::fma(Batch::load_unaligned(query + i), Batch::load_unaligned(key + i), sum);
  }
  return sum;
}

/// weights [heads, keys]: weights[h, j] = scale <q_h, k_jh>, for query [heads D] and keys [keys, *]
void scores(const Heads& heads, Real scale, const Real* query, const Real* key, Index stride,
            Real* weights) {
  const auto products_at = [&](const Place& at) {
    const Index column = at.head * heads.head_dim;
    return lane_products(query + column, key + at.key * stride + column, heads.head_dim);
  };
  const auto weight_at = [&](const Place& at) -> Real& {
    return weights[at.head * heads.weight_stride + at.key];
  };
  Place read, written;
  Index left = heads.count * heads.keys;
  for (; left >= dot_tile_size; left -= dot_tile_size) {
    Batch sums[dot_tile_size];
    for (Batch& sum : sums) {
      sum = products_at(read);
      read.advance(heads);
    }
    Real dots[dot_tile_size];
    sum_lanes(sums, dots);
    for (const Real dot : dots) {
      weight_at(written) = scale * dot;
      written.advance(heads);
    }
  }
  for (; left > 0; --left) {
    weight_at(written) = scale * lanes_sum(products_at(written));
    written.advance(heads);
  }
}

/// y_c = sum_j weights[h of c, j] v_jc for `batches` batches of columns from `column` on; weights
/// [heads, keys], value [keys, *], y [heads Dv].
template <Index batches>
void weighted_values(const Heads& heads, const Real* weights, const Real* value, Index stride,
                     Index column, Real* y) {
  constexpr auto count = static_cast<std::size_t>(batches);
  const Real* weights_of[count];
  for (Index c = 0; c < batches; ++c) {
    weights_of[c] = weights + (column + c * batch_size) / heads.value_dim * heads.weight_stride;
  }
  Batch sums[count];
  std::fill(std::begin(sums), std::end(sums), Batch(Real(0)));
  for (Index j = 0; j < heads.keys; ++j) {
    const Real* const row = value + j * stride + column;
    for (Index c = 0; c < batches; ++c) {
      const Batch v = Batch::load_unaligned(row + c * batch_size);
      sums[c] = xsimd::fma(Batch(weights_of[c][j]), v, sums[c]);
    }
  }
  for (Index c = 0; c < batches; ++c) sums[c].store_unaligned(y + column + c * batch_size);
}

/// y [heads Dv] of all columns, as many at a time as there are registers for.
void outputs(const Heads& heads, const Real* weights, const Real* value, Index stride, Real* y) {
  const Index columns = heads.count * heads.value_dim;
  Index column = 0;
  for (; column + 16 * batch_size <= columns; column += 16 * batch_size) {
    weighted_values<16>(heads, weights, value, stride, column, y);
  }
  for (; column + 4 * batch_size <= columns; column += 4 * batch_size) {
    weighted_values<4>(heads, weights, value, stride, column, y);
  }
  for (; column < columns; column += batch_size) {
    weighted_values<1>(heads, weights, value, stride, column, y);
  }
}

}  // namespace

bool is_one_query(const AttentionPlan& plan) {
  return plan.queries == 1 && plan.heads > 0 && !plan.allowed.defined() && plan.dropout == 0 &&
         plan.head_dim % batch_size == 0 && plan.value_dim % batch_size == 0;
}

void one_query_attention(const AttentionPlan& plan, HeadRows query, HeadRows key, HeadRows value,
                         Real* y, Real* log_sum_exp) {
  const Index weight_stride = (plan.keys + 15) / 16 * 16;  // whole cache lines
  Array scratch(Shape{num_threads(), plan.heads, weight_stride});
  // Chunks of whole examples where that leaves enough of them, else of some heads of one.
  constexpr Index chunk_cost = 16384;
  const Index head_cost = plan.keys * (plan.head_dim + plan.value_dim) / 4;
  Index grain = grain_for(head_cost, chunk_cost);
  if (grain > plan.heads) grain = grain / plan.heads * plan.heads;
  parallel_for(plan.batch * plan.heads, grain, [&](Index begin, Index end) {
    Real* const weights = scratch.data() + thread_index() * plan.heads * weight_stride;
    while (begin < end) {
      const Index example = begin / plan.heads, head = begin % plan.heads;
      const Heads heads{.count = std::min(plan.heads - head, end - begin),
                        .keys = plan.limits[example],
                        .head_dim = plan.head_dim,
                        .value_dim = plan.value_dim,
                        .weight_stride = weight_stride};
      const auto row = [&](const HeadRows& of, Index times, Index width) {
        return of.data + example * times * of.stride + head * width;
      };
      // S [heads, keys] = scale <q, k>
      scores(heads, plan.scale, row(query, 1, plan.head_dim), row(key, plan.keys, plan.head_dim),
             key.stride, weights);
      for (Index h = 0; h < heads.count; ++h) {
        Real* const weight = weights + h * weight_stride;
        if (plan.score_bias.defined()) {
          add_score_bias(plan, example, head + h, 0, heads.keys, weight);
        }
        // P [1, keys] = softmax(S), log_sum_exp = log sum_j e^S_j
        log_sum_exp[begin + h] =
            heads.keys > 0 ? row_softmax(weight, heads.keys, weight) : -infinity;
      }
      // y [heads Dv] = P V, head by head
      outputs(heads, weights, row(value, plan.keys, plan.value_dim), value.stride,
              y + begin * plan.value_dim);
      begin += heads.count;
    }
  });
}

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
