// The attention kernel against its reference, a head at a time.
#include "kernels/attention.hpp"

#include <algorithm>
#include <cmath>

#include "headroom/base/parallel.hpp"
#include "kernels/against_reference.hpp"
#include "kernels/attention_reference.hpp"
#include "kernels/one_query.hpp"
#include "support/close.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// One head of one example, without a mask.
kernels::AttentionPlan one_head(Index queries, Index keys, Index head_dim, Index value_dim,
                                Real scale) {
  return {.batch = 1,
          .heads = 1,
          .queries = queries,
          .keys = keys,
          .head_dim = head_dim,
          .value_dim = value_dim,
          .scale = scale,
          .limits = Ids(Shape{1, queries}, static_cast<std::int32_t>(keys)),
          .limits_differ = false,
          .allowed = {},
          .allowed_at = {},
          .dropout = 0,
          .streams = {}};
}

}  // namespace

TEST_CASE("one head of attention agrees with its reference in values and gradients") {
  Rng rng(1);
  constexpr Index queries = 6, keys = 5, head_dim = 3, value_dim = 2;
  constexpr double scale = 0.7;
  const Array q = random_array(rng, {queries, head_dim}), k = random_array(rng, {keys, head_dim});
  const Array v = random_array(rng, {keys, value_dim}),
              dy = random_array(rng, {queries, value_dim});
  Bytes bytes(Shape{queries, keys});
  reference::Allowed allowed = reference::all_allowed(queries, keys);
  Index at = 0;
  for (auto&& a : allowed) {
    a = at >= keys && rng.uniform() < Real(0.6);  // query 0 attends to nothing
    bytes[at++] = a ? 1 : 0;
  }
  kernels::AttentionPlan plan = one_head(queries, keys, head_dim, value_dim, Real(scale));
  plan.allowed = bytes;
  plan.allowed_at = {0};
  const kernels::HeadRows query{q.data(), head_dim}, key{k.data(), head_dim},
      value{v.data(), value_dim};
  Array y(dy.shape()), log_sum_exp(Shape{queries});
  kernels::attention(plan, query, key, value, y.data(), log_sum_exp.data());
  require_close(y,
                reference::attention(matrix_of<double>(q), matrix_of<double>(k),
                                     matrix_of<double>(v), allowed, scale),
                value_tolerance);

  Array dq(q.shape()), dk(k.shape()), dv(v.shape());
  kernels::attention_backward(plan, query, key, value, y.data(), log_sum_exp.data(), dy.data(),
                              {dq.data(), head_dim, false}, {dk.data(), head_dim, false},
                              {dv.data(), value_dim, false});
  const auto qc = matrix_of<Complex>(q), kc = matrix_of<Complex>(k), vc = matrix_of<Complex>(v);
  require_close(
      dq,
      complex_step_gradient(
          q, dy, [&](const auto& z) { return reference::attention(z, kc, vc, allowed, scale); }),
      gradient_tolerance);
  require_close(
      dk,
      complex_step_gradient(
          k, dy, [&](const auto& z) { return reference::attention(qc, z, vc, allowed, scale); }),
      gradient_tolerance);
  require_close(
      dv,
      complex_step_gradient(
          v, dy, [&](const auto& z) { return reference::attention(qc, kc, z, allowed, scale); }),
      gradient_tolerance);
}

TEST_CASE("the log-sum-exps of the row statistics have the bits of attention's") {
  Rng rng(2);
  constexpr Index head_dim = 5, value_dim = 3;
  for (const Index keys : {1, 3, 8, 37, 64, 70}) {
    const Index queries = 41;
    const Array q = random_array(rng, {queries, head_dim}), k = random_array(rng, {keys, head_dim});
    const Array v = random_array(rng, {keys, value_dim});
    kernels::AttentionPlan plan = one_head(queries, keys, head_dim, value_dim, Real(1.7));
    const kernels::HeadRows query{q.data(), head_dim}, key{k.data(), head_dim};
    for (const bool masked : {false, true}) {
      if (masked) {
        plan.limits_differ = true;
        for (Index i = 0; i < queries; ++i) {
          plan.limits[i] = static_cast<std::int32_t>(std::min(i, keys));  // query 0 sees nothing
        }
      }
      Array y({queries, value_dim}), log_sum_exp(Shape{queries});
      Array of_rows(Shape{queries}), entropy(Shape{queries}), maximum(Shape{queries});
      Ids allowed(Shape{queries});
      kernels::attention(plan, query, key, {v.data(), value_dim}, y.data(), log_sum_exp.data());
      kernels::attention_rows(plan, query, key,
                              {of_rows.data(), entropy.data(), maximum.data(), allowed.data()});
      CHECK_THAT(of_rows, test::SameBits(log_sum_exp));
      CHECK(std::isinf(of_rows[0]) == masked);
    }
  }
}

TEST_CASE("a query that sees hardly more than one key has gradients with all their digits") {
  const Array q(Shape{1, 1}, {Real(2.9)}), dy(Shape{1, 1}, {Real(3.1)});
  const Array k(Shape{4, 1}, {Real(3.8), Real(0.1), Real(-0.4), Real(-3)});
  const Array v(Shape{4, 1}, {Real(1.9), Real(-0.7), Real(0.4), Real(1.1)});
  const kernels::AttentionPlan plan = one_head(1, 4, 1, 1, 1);
  const kernels::HeadRows query{q.data(), 1}, key{k.data(), 1}, value{v.data(), 1};
  Array y(dy.shape()), log_sum_exp(Shape{1}), dq(q.shape()), dk(k.shape()), dv(v.shape());
  kernels::attention(plan, query, key, value, y.data(), log_sum_exp.data());
  kernels::attention_backward(plan, query, key, value, y.data(), log_sum_exp.data(), dy.data(),
                              {dq.data(), 1, false}, {dk.data(), 1, false}, {dv.data(), 1, false});
  const auto qc = matrix_of<Complex>(q), kc = matrix_of<Complex>(k), vc = matrix_of<Complex>(v);
  const auto all = reference::all_allowed(1, 4);
  // Scores of up to 11 are rounded at 1e-6, and the small weights with them.
  constexpr double share = is_double ? 1e-10 : 5e-6;
  const auto of_query = [&](const auto& z) { return reference::attention(z, kc, vc, all, 1); };
  const auto of_key = [&](const auto& z) { return reference::attention(qc, z, vc, all, 1); };
  require_digits(dq, complex_step_gradient(q, dy, of_query), share);
  require_digits(dk, complex_step_gradient(k, dy, of_key), share);
}

namespace {

/// Columns [first, first + width) of example b's rows of [B, T, stride], as the reference's matrix.
reference::Matrix<double> head_of(const Array& all, Index b, Index first, Index width) {
  const Index times = all.dim(1), stride = all.dim(2);
  Array head({times, width});
  for (Index t = 0; t < times; ++t) {
    for (Index d = 0; d < width; ++d) {
      head[t * width + d] = all[(b * times + t) * stride + first + d];
    }
  }
  return matrix_of<double>(head);
}

}  // namespace

TEST_CASE("a single query agrees with the reference in every head, whatever the sizes") {
  constexpr Index lane = 64 / Index(sizeof(Real));  // the widest SIMD register
  Rng rng(2);
  for (const Index heads : {1, 3, 5, 16}) {
    for (const auto& [d, dv] : {std::pair{lane, lane}, {2 * lane, 3 * lane}}) {
      const Index keys = 37, extra = 5;
      const std::vector<Index> lengths{37, 0, 1, 20};
      const auto batch = Index(lengths.size());
      Ids limits(Shape{batch, 1});
      for (Index b = 0; b < batch; ++b) {
        limits[b] = static_cast<std::int32_t>(lengths[static_cast<std::size_t>(b)]);
      }
      const Array q = random_array(rng, {batch, 1, heads * d});
      const Array k = random_array(rng, {batch, keys, heads * d + extra});
      const Array v = random_array(rng, {batch, keys, heads * dv + extra});
      const kernels::AttentionPlan plan{.batch = batch,
                                        .heads = heads,
                                        .queries = 1,
                                        .keys = keys,
                                        .head_dim = d,
                                        .value_dim = dv,
                                        .scale = Real(0.3),
                                        .limits = limits,
                                        .limits_differ = false,
                                        .allowed = {},
                                        .allowed_at = {},
                                        .dropout = 0,
                                        .streams = {}};
      Array y({batch, 1, heads * dv}), statistics({batch, heads});
      REQUIRE(kernels::is_one_query(plan));
      const auto attend = [&] {
        kernels::attention(plan, {q.data(), q.dim(2)}, {k.data(), k.dim(2)}, {v.data(), v.dim(2)},
                           y.data(), statistics.data());
      };
      attend();
      for (Index b = 0; b < batch; ++b) {
        const Index length = lengths[static_cast<std::size_t>(b)];
        reference::Allowed allowed = reference::all_allowed(1, keys);
        for (Index j = length; j < keys; ++j) allowed(0, static_cast<std::size_t>(j)) = false;
        for (Index h = 0; h < heads; ++h) {
          const Array head(Shape{1, dv},
                           y.span().subspan(static_cast<std::size_t>((b * heads + h) * dv),
                                            static_cast<std::size_t>(dv)));
          const auto key = head_of(k, b, h * d, d);
          require_close(head,
                        reference::attention(head_of(q, b, h * d, d), key,
                                             head_of(v, b, h * dv, dv), allowed, 0.3),
                        10 * value_tolerance);
          double sum = 0;
          for (Index j = 0; j < length; ++j) {
            double score = 0;
            for (Index c = 0; c < d; ++c) {
              score += 0.3 * double(q[(b * heads + h) * d + c]) *
                       key(static_cast<std::size_t>(j), static_cast<std::size_t>(c));
            }
            sum += std::exp(score);
          }
          const auto log_sum_exp = double(statistics[b * heads + h]);
          if (length == 0) {
            REQUIRE(log_sum_exp == -std::numeric_limits<double>::infinity());
          } else {
            REQUIRE(std::abs(log_sum_exp - std::log(sum)) < 10 * value_tolerance);
          }
        }
      }
      const int threads = num_threads();
      const Array first = y.clone();
      for (const int other : {1, 2, 3}) {
        set_num_threads(other);
        attend();
        CHECK(std::equal(y.data(), y.data() + y.size(), first.data()));
      }
      set_num_threads(threads);
    }
  }
}

TEST_CASE("a single query of a long text has in each head what the head alone has") {
  constexpr Index lane = 64 / Index(sizeof(Real)), heads = 5, keys = 4100;  // a chunk for each head
  Rng rng(9);
  const Array q = random_array(rng, {2, 1, heads * lane});
  const Array k = random_array(rng, {2, keys, heads * lane});
  const Array v = random_array(rng, {2, keys, heads * lane});
  const auto attended = [&](Index first, Index count) {
    const kernels::AttentionPlan plan{.batch = 2,
                                      .heads = count,
                                      .queries = 1,
                                      .keys = keys,
                                      .head_dim = lane,
                                      .value_dim = lane,
                                      .scale = Real(0.3),
                                      .limits = Ids(Shape{2, 1}, {4100, 3999}),
                                      .limits_differ = false,
                                      .allowed = {},
                                      .allowed_at = {},
                                      .dropout = 0,
                                      .streams = {}};
    REQUIRE(kernels::is_one_query(plan));
    Array y({2, 1, count * lane}), statistics({2, count});
    kernels::attention(plan, {q.data() + first * lane, q.dim(2)},
                       {k.data() + first * lane, k.dim(2)}, {v.data() + first * lane, v.dim(2)},
                       y.data(), statistics.data());
    return y;
  };
  const Array together = attended(0, heads);
  for (Index h = 0; h < heads; ++h) {
    const Array alone = attended(h, 1);
    for (Index b = 0; b < 2; ++b) {
      for (Index c = 0; c < lane; ++c) {
        REQUIRE(std::abs(together[(b * heads + h) * lane + c] - alone[b * lane + c]) <
                Real(10 * value_tolerance));
      }
    }
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
