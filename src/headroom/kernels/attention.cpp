// Attention by blocks of query rows: scores, weights and output of a block stay in the cache, and
// the backward pass computes the weights again.
//
// For one head of one example, with Tq queries, Tk keys, D = head_dim and Dv = value_dim:
//
//   S [Tq, Tk] = scale Q [Tq, D] K^T [D, Tk] + bias
//   P [Tq, Tk] = softmax(S), row by row, over the allowed keys; then times dropout's factors
//   y [Tq, Dv] = P [Tq, Tk] V [Tk, Dv]
//
// Of S, P and their gradients only a block exists at a time: [rows, keys] in the thread's scratch
// memory, its rows `stride` apart. Invariants:
//
//  1. A block covers at most block_rows queries and the first `keys` keys, the largest limit of its
//     rows. It never reads a key or value behind.
//  2. Row r of P is exactly 0 at denied keys and from its limit on. A row that may attend to no key
//     is all 0, and its log-sum-exp is -infinity.
//  3. A key or value whose weight is 0 contributes nothing, even if it is NaN or infinite.
//  4. log_sum_exp belongs to P before dropout. So the backward pass has P = e^(S - log_sum_exp) in
//     one pass over a row, without its maximum and its sum.
//  5. Dropout's factors are drawn again from (stream, element): the same in both passes.
//  6. Forward, each block writes rows of y that no other block writes, so blocks are independent.
//     Backward, all blocks of a head add to the same dK and dV, so one thread takes the whole head
//     (of all examples, where these share a bias).
//  7. A fresh gradient is garbage until the first block of its head (the last rows) has overwritten
//     the keys that it sees and cleared the others; all later blocks add.
//  8. The order of all additions depends on the sizes alone, never on the number of threads.
#include "kernels/attention.hpp"

#include <algorithm>
#include <cmath>

#include "headroom/base/at.hpp"
#include "headroom/base/parallel.hpp"
#include "kernels/dropout.hpp"
#include "kernels/gemm.hpp"
#include "kernels/one_query.hpp"
#include "kernels/score_bias.hpp"
#include "kernels/simd.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace kernels {

namespace {

/// Query rows of a block. Under causality a block stops at its last row's limit.
constexpr Index block_rows = 48;

/// Queries [begin, begin + rows) of head `head` of example `b`, and the keys they may attend to.
struct Block {
  const AttentionPlan& plan;
  Index b, head, begin, rows;
  Index keys;  // the largest limit of the rows; no key behind is read

  Block(const AttentionPlan& p, Index example, Index h, Index first)
      : plan(p),
        b(example),
        head(h),
        begin(first),
        rows(std::min(block_rows, p.queries - first)),
        keys(0) {
    for (Index r = 0; r < rows; ++r) keys = std::max(keys, limit(r));
  }
  // Row r may attend to keys [0, limit).
  Index limit(Index r) const { return plan.limits[b * plan.queries + begin + r]; }
  // Bytes [Tk] of row r, or nullptr without a byte mask.
  const std::uint8_t* allowed(Index r) const {
    if (!plan.allowed.defined()) return nullptr;
    const Index matrix = plan.allowed_at[static_cast<std::size_t>(b * plan.heads + head)];
    return plan.allowed.data() + matrix + (begin + r) * plan.keys;
  }
  /// True when some of the first `keys` keys are denied to some row.
  bool has_denied() const { return plan.limits_differ || plan.allowed.defined(); }
  /// Position of row r in [B, H, Tq].
  Index statistics(Index r) const { return (b * plan.heads + head) * plan.queries + begin + r; }
  /// Offset of row t of this head in [B, T, *] with rows `stride` apart and T = `times`; a head has
  /// `width` columns.
  Index at(Index times, Index t, Index stride, Index width) const {
    return (b * times + t) * stride + head * width;
  }
  // Q of the block, [rows, D].
  Factor queries(const HeadRows& q) const {
    return {q.data + at(plan.queries, begin, q.stride, plan.head_dim), q.stride};
  }
  // K, [Tk, D]; the products read its first `keys` rows.
  Factor all_keys(const HeadRows& k) const {
    return {k.data + at(plan.keys, 0, k.stride, plan.head_dim), k.stride};
  }
  // V, [Tk, Dv]; the same.
  Factor all_values(const HeadRows& v) const {
    return {v.data + at(plan.keys, 0, v.stride, plan.value_dim), v.stride};
  }
  /// Offset of the block, [rows, Dv], in y or dy, [B, Tq, H Dv].
  Index output() const {
    return at(plan.queries, begin, plan.heads * plan.value_dim, plan.value_dim);
  }
};

Factor transposed(const Factor& f) { return headroom::transposed(f.data, f.stride); }

/// Row stride of a block of weights: whole cache lines, so that a row may end with a whole
/// register.
Index weight_stride(const AttentionPlan& plan) { return (plan.keys + 15) / 16 * 16; }
static_assert(16 % batch_size == 0);

/// Cost of a head, by which heads are cut into chunks: its multiply-adds, and the calls for a head
/// with a single query.
Index head_cost(const AttentionPlan& plan) {
  constexpr Index calls = 1024;
  return plan.queries * plan.keys * (plan.head_dim + plan.value_dim) / 16 + calls;
}

Index blocks_of(const AttentionPlan& plan) { return (plan.queries + block_rows - 1) / block_rows; }

Index grain_of_blocks(const AttentionPlan& plan) {
  return grain_for(head_cost(plan) / std::max<Index>(1, blocks_of(plan)));
}

bool is_finite(const Factor& f, Index rows, Index columns) {
  Real zero = 0;  // stays 0 unless an infinity or NaN is multiplied
  for (Index r = 0; r < rows; ++r) {
    const Real* const row = f.data + r * f.stride;
#pragma omp simd reduction(+ : zero)
    for (Index c = 0; c < columns; ++c) zero += row[c] * Real(0);
  }
  return zero == 0;
}

/// C [m, n] += alpha A [m, k] B [k, n] without reading b_kj where a_ik is 0: a denied key's weight
/// is 0, but 0 * NaN is NaN. Slow, and only for values that are not finite.
void gemm_skipping_zeros(Index m, Index n, Index k, Real alpha, Factor a, Factor b, Real* c,
                         Index c_stride) {
  for (Index i = 0; i < m; ++i) {
    for (Index l = 0; l < k; ++l) {
      const Real weight = a.is_transposed ? a.data[l * a.stride + i] : a.data[i * a.stride + l];
      if (weight == 0) continue;
      for (Index j = 0; j < n; ++j)
        c[i * c_stride + j] += alpha * weight * b.data[l * b.stride + j];
    }
  }
}

/// C [m, n] (+)= alpha W [m, k] B [k, n], where W are weights or their gradients (perhaps
/// transposed): 0 where a key is denied.
void weighted_sum(const Block& block, Index m, Index n, Index k, Real alpha, Factor w, Factor b,
                  bool add, Real* c, Index c_stride) {
  if (!block.has_denied() || is_finite(b, k, n)) {
    gemm(m, n, k, alpha, w, b, add ? Real(1) : Real(0), c, c_stride);
    return;
  }
  for (Index i = 0; i < m && !add; ++i) std::fill_n(c + i * c_stride, n, Real(0));
  gemm_skipping_zeros(m, n, k, alpha, w, b, c, c_stride);
}

/// S = scale Q K^T + bias for a block: s [rows, keys], rows `stride` apart.
void scores(const Block& block, const HeadRows& query, const HeadRows& key, Real* s, Index stride) {
  // s [rows, keys] = scale Q [rows, D] K^T [D, keys]
  gemm(block.rows, block.keys, block.plan.head_dim, block.plan.scale, block.queries(query),
       transposed(block.all_keys(key)), Real(0), s, stride);
  if (!block.plan.score_bias.defined()) return;
  for (Index r = 0; r < block.rows; ++r) {
    // s [1, keys] += row of the bias
    add_score_bias(block.plan, block.b, block.head, block.begin + r, block.keys, s + r * stride);
  }
}

/// Masks row r of the scores, s [keys]: -infinity, whose e^ is 0, at denied bytes and from the
/// row's limit to the end of a register, 0 behind. Returns how many scores the softmax has to read,
/// in whole registers, since a partial register takes as long as several whole ones; 0 when the row
/// may attend to nothing, and then it is all 0.
Index mask_row(const Block& block, Index r, Real* s) {
  const Index limit = block.limit(r);
  const std::uint8_t* const allowed = block.allowed(r);
  const bool any = allowed == nullptr ? limit > 0 : row_mask(s, limit, allowed);
  const Index count = any ? (limit + batch_size - 1) / batch_size * batch_size : 0;
  if (any) std::fill(s + limit, s + count, -infinity);
  std::fill(s + count, s + std::max(count, block.keys), Real(0));
  return count;
}

/// The factors [keys] that dropout multiplies row r of the weights with: 0 or 1 / (1 - p).
void dropout_row(const Block& block, Index r, Real* factors) {
  const AttentionPlan& plan = block.plan;
  const Index element = (block.b * plan.queries + block.begin + r) * plan.keys;
  dropout_factors(at(block.plan.streams, block.head), element, block.keys, plan.dropout, factors);
}

void row_multiply(const Real* factors, Index n, Real* y) {
#pragma omp simd
  for (Index i = 0; i < n; ++i) y[i] *= factors[i];
}

/// P = softmax(S) times dropout's factors, row by row and in place: s [rows, keys]. Stores the
/// log-sum-exp of each row.
void weigh(const Block& block, Real* s, Index stride, Real* factors, Real* log_sum_exp) {
  for (Index r = 0; r < block.rows; ++r) {
    Real* const row = s + r * stride;
    // S [1, keys], denied keys at -infinity
    const Index count = mask_row(block, r, row);
    // P [1, keys] = softmax(S), log_sum_exp = log sum_j e^S_j
    log_sum_exp[block.statistics(r)] = count > 0 ? row_softmax(row, count, row) : -infinity;
    if (factors != nullptr) {
      dropout_row(block, r, factors);
      // P [1, keys] times m [1, keys]
      row_multiply(factors, block.keys, row);
    }
  }
}

/// How many keys row r may attend to.
std::int32_t allowed_keys(const Block& block, Index r) {
  const Index limit = block.limit(r);
  const std::uint8_t* const allowed = block.allowed(r);
  const Index count =
      allowed == nullptr ? limit : limit - std::count(allowed, allowed + limit, std::uint8_t{0});
  return static_cast<std::int32_t>(count);
}

/// The backward pass of weigh(), row by row and in place. p [rows, keys] holds S and becomes P
/// (times dropout's factors), which dV needs. dp [rows, keys] holds dP and becomes dS.
///
/// With the factors m of dropout, forward was y_d = sum_j P_j m_j V_jd, so the gradient that
/// reaches P_j is dP_j = m_j sum_d dy_d V_jd. Forward was P_j = e^(S_j - log sum_i e^S_i), so
///   dP_j / dS_i = P_j ([i = j] - P_i),   dS_i = P_i (dP_i - mean),   mean = sum_j P_j dP_j,
/// and sum_j P_j dP_j = sum_d dy_d sum_j P_j m_j V_jd = sum_d dy_d y_d: no row of P is needed for
/// it.
void weigh_backward(const Block& block, const Real* y, const Real* log_sum_exp, const Real* dy,
                    Real* p, Real* dp, Index stride, Real* factors) {
  const Index y_stride = block.plan.heads * block.plan.value_dim;
  for (Index r = 0; r < block.rows; ++r) {
    Real* const weights = p + r * stride;
    Real* const d = dp + r * stride;
    // forward: S [1, keys], denied keys at -infinity; the same here
    const Index count = mask_row(block, r, weights);
    if (count == 0) {
      std::fill_n(d, block.keys, Real(0));
      continue;
    }
    if (factors != nullptr) {
      // forward: P times m; so dP [1, keys] is times m
      dropout_row(block, r, factors);
      row_multiply(factors, block.keys, d);
    }
    const Index at = block.output() + r * y_stride;
    // mean = rough + rest: rough is <dy, y>, rest the small difference to sum_j P_j dP_j that
    // rounding makes, which matters where one weight is nearly 1 (row_softmax_backward). Denied
    // keys have weight 0, and perhaps a NaN in d from their value.
    const Real rough = row_dot(dy + at, y + at, block.plan.value_dim);
    // forward: P [1, keys] = softmax(S); here P = e^(S - log_sum_exp), in the same pass as rest
    const Real rest =
        row_exp_mean_above(weights, d, count, log_sum_exp[block.statistics(r)], rough, weights);
    // dS [1, keys] = P (dP - mean)
    row_softmax_backward(weights, d, block.keys, rough, rest, false, d);
    // P [1, keys] times m, as forward multiplied V with it
    if (factors != nullptr) row_multiply(factors, block.keys, weights);
  }
}

}  // namespace

void attention(const AttentionPlan& plan, HeadRows query, HeadRows key, HeadRows value, Real* y,
               Real* log_sum_exp) {
  if (is_one_query(plan)) return one_query_attention(plan, query, key, value, y, log_sum_exp);
  const Index blocks = blocks_of(plan);
  const Index stride = weight_stride(plan);
  const Index y_stride = plan.heads * plan.value_dim;
  // Each thread has its own weights and row of dropout factors.
  Array scratch(Shape{num_threads(), block_rows + 1, stride});
  parallel_for(
      plan.batch * plan.heads * blocks, grain_of_blocks(plan), [&](Index begin, Index end) {
        Real* const weights = scratch.data() + thread_index() * (block_rows + 1) * stride;
        Real* const factors = plan.dropout > 0 ? weights + block_rows * stride : nullptr;
        for (Index item = begin; item < end; ++item) {
          const Index head = item / blocks;
          const Block block(plan, head / plan.heads, head % plan.heads, item % blocks * block_rows);
          // S [rows, keys] = scale Q [rows, D] K^T [D, keys]
          scores(block, query, key, weights, stride);
          // P [rows, keys] = softmax(S), times dropout's factors
          weigh(block, weights, stride, factors, log_sum_exp);
          // y [rows, Dv] = P [rows, keys] V [keys, Dv]
          weighted_sum(block, block.rows, plan.value_dim, block.keys, Real(1), {weights, stride},
                       block.all_values(value), false, y + block.output(), y_stride);
        }
      });
}

void attention_rows(const AttentionPlan& plan, HeadRows query, HeadRows key,
                    const AttentionRowsOut& rows) {
  const Index blocks = blocks_of(plan);
  const Index stride = weight_stride(plan);
  Array scratch(Shape{num_threads(), block_rows, stride});
  parallel_for(
      plan.batch * plan.heads * blocks, grain_of_blocks(plan), [&](Index begin, Index end) {
        Real* const s = scratch.data() + thread_index() * block_rows * stride;
        for (Index item = begin; item < end; ++item) {
          const Index head = item / blocks;
          const Block block(plan, head / plan.heads, head % plan.heads, item % blocks * block_rows);
          // S [rows, keys] = scale Q [rows, D] K^T [D, keys]
          scores(block, query, key, s, stride);
          for (Index r = 0; r < block.rows; ++r) {
            Real* const row = s + r * stride;
            const Index count = mask_row(block, r, row);
            const RowShape shape = count > 0 ? row_shape(row, count) : RowShape{-infinity, 0, 0};
            const Index at = block.statistics(r);
            rows.log_sum_exp[at] = shape.log_sum_exp;
            rows.entropy[at] = shape.entropy;
            rows.maximum[at] = shape.maximum;
            rows.allowed[at] = allowed_keys(block, r);
          }
        }
      });
}

namespace {

/// Clears the rows [keys, Tk) of a dK or dV that is overwritten: the first block of a head leaves
/// them out.
void clear_behind(const HeadGradient& gradient, const Block& block, Index width) {
  if (gradient.add || gradient.data == nullptr) return;
  for (Index t = block.keys; t < block.plan.keys; ++t) {
    std::fill_n(gradient.data + block.at(block.plan.keys, t, gradient.stride, width), width,
                Real(0));
  }
}

}  // namespace

// Forward, for a block:
//   S [rows, keys] = scale Q [rows, D] K^T [D, keys] + bias
//   P [rows, keys] = softmax(S), row by row; times dropout's factors
//   y [rows, Dv]   = P [rows, keys] V [keys, Dv]
// Backward, from the last of these lines to the first, after S was computed again:
//   dP [rows, keys]  =  dy [rows, Dv] V^T [Dv, keys]             forward: y = P V
//   dV [keys, Dv]   (+)= P^T [keys, rows] dy [rows, Dv]          forward: y = P V
//   dS [rows, keys]  =  P (dP - mean), see weigh_backward()      forward: P = softmax(S)
//   dQ [rows, D]    (+)= scale dS [rows, keys] K [keys, D]       forward: S = scale Q K^T
//   dbias            += dS [rows, keys], or a slope's share      forward: S = scale Q K^T + bias
//   dK [keys, D]    (+)= scale dS^T [keys, rows] Q [rows, D]     forward: S = scale Q K^T
void attention_backward(const AttentionPlan& plan, HeadRows query, HeadRows key, HeadRows value,
                        const Real* y, const Real* log_sum_exp, const Real* dy, HeadGradient dquery,
                        HeadGradient dkey, HeadGradient dvalue, Real* dscore_bias) {
  const Index stride = weight_stride(plan);
  const Index y_stride = plan.heads * plan.value_dim;
  const Index last_block = std::max<Index>(0, plan.queries - 1) / block_rows;
  Array scratch(Shape{num_threads(), 2 * block_rows + 1, stride});
  // Examples that share a bias add to one gradient: then one chunk takes all examples of a head.
  const bool by_head = dscore_bias != nullptr && plan.score_bias.rank() < 4;
  Index grain = grain_for(2 * head_cost(plan));
  if (by_head && plan.batch > 0) grain = (grain + plan.batch - 1) / plan.batch * plan.batch;
  parallel_for(plan.batch * plan.heads, grain, [&](Index begin, Index end) {
    Real* const p = scratch.data() + thread_index() * (2 * block_rows + 1) * stride;
    Real* const ds = p + block_rows * stride;
    Real* const factors = plan.dropout > 0 ? ds + block_rows * stride : nullptr;
    for (Index item = begin; item < end; ++item) {
      const Index example = by_head ? item % plan.batch : item / plan.heads;
      const Index head = by_head ? item / plan.batch : item % plan.heads;
      // From the last block, which under causality sees all keys: it overwrites, the others add.
      for (Index b = last_block; b >= 0; --b) {
        const Index first = b * block_rows;
        const Block block(plan, example, head, first);
        const bool add_key = b < last_block || dkey.add;
        const bool add_value = b < last_block || dvalue.add;
        if (b == last_block) {
          clear_behind(dkey, block, plan.head_dim);
          clear_behind(dvalue, block, plan.value_dim);
        }
        const Factor dy_block{dy + block.output(), y_stride};
        // forward: S [rows, keys] = scale Q [rows, D] K^T [D, keys] + bias; the same here, into p
        scores(block, query, key, p, stride);
        // forward: y [rows, Dv] = P [rows, keys] V [keys, Dv], so
        // dP [rows, keys] = dy [rows, Dv] V^T [Dv, keys]
        gemm(block.rows, block.keys, plan.value_dim, Real(1), dy_block,
             transposed(block.all_values(value)), Real(0), ds, stride);
        // forward: P [rows, keys] = softmax(S), so dS = P (dP - mean); p becomes P, ds becomes dS
        weigh_backward(block, y, log_sum_exp, dy, p, ds, stride, factors);
        // forward: S = scale Q K^T + bias, so dbias [rows, keys] += dS
        if (dscore_bias != nullptr) {
          for (Index r = 0; r < block.rows; ++r) {
            add_score_bias_gradient(plan, example, head, first + r, block.keys, ds + r * stride,
                                    dscore_bias);
          }
        }
        // forward: y [rows, Dv] = P [rows, keys] V [keys, Dv], so
        // dV [keys, Dv] (+)= P^T [keys, rows] dy [rows, Dv]
        if (dvalue.data != nullptr) {
          weighted_sum(block, block.keys, plan.value_dim, block.rows, Real(1),
                       headroom::transposed(p, stride), dy_block, add_value,
                       dvalue.data + block.at(plan.keys, 0, dvalue.stride, plan.value_dim),
                       dvalue.stride);
        }
        // forward: S [rows, keys] = scale Q [rows, D] K^T [D, keys], so
        // dQ [rows, D] (+)= scale dS [rows, keys] K [keys, D]
        if (dquery.data != nullptr) {
          weighted_sum(block, block.rows, plan.head_dim, block.keys, plan.scale, {ds, stride},
                       block.all_keys(key), dquery.add,
                       dquery.data + block.at(plan.queries, first, dquery.stride, plan.head_dim),
                       dquery.stride);
        }
        // and dK [keys, D] (+)= scale dS^T [keys, rows] Q [rows, D]
        if (dkey.data != nullptr) {
          weighted_sum(block, block.keys, plan.head_dim, block.rows, plan.scale,
                       headroom::transposed(ds, stride), block.queries(query), add_key,
                       dkey.data + block.at(plan.keys, 0, dkey.stride, plan.head_dim), dkey.stride);
        }
      }
    }
  });
}

}  // namespace kernels
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
