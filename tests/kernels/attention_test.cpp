// The attention kernel against its reference, a head at a time.
#include "kernels/attention.hpp"

#include "kernels/against_reference.hpp"
#include "kernels/attention_reference.hpp"

namespace headroom::inline HEADROOM_PRECISION {

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
    a = at >= keys && rng.uniform() < Real(0.6);  // query 0 sees nothing
    bytes[at++] = a ? 1 : 0;
  }
  const kernels::AttentionPlan plan{.batch = 1,
                                    .heads = 1,
                                    .queries = queries,
                                    .keys = keys,
                                    .head_dim = head_dim,
                                    .value_dim = value_dim,
                                    .scale = Real(scale),
                                    .limits = Ids(Shape{1, queries}, std::int32_t{keys}),
                                    .limits_differ = false,
                                    .allowed = bytes,
                                    .allowed_at = {0},
                                    .dropout = 0,
                                    .streams = {}};
  const kernels::HeadRows query{q.data(), head_dim}, key{k.data(), head_dim},
      value{v.data(), value_dim};
  Array y(dy.shape()), log_sum_exp(Shape{queries});
  kernels::attention(plan, query, key, value, y.data(), {log_sum_exp.data()});
  require_close(y,
                reference::attention(matrix_of<double>(q), matrix_of<double>(k),
                                     matrix_of<double>(v), allowed, scale),
                value_tolerance);

  Array dq(q.shape()), dk(k.shape()), dv(v.shape());
  kernels::attention_backward(plan, query, key, value, y.data(), log_sum_exp.data(), dy.data(),
                              {dq.data(), head_dim, true}, {dk.data(), head_dim, true},
                              {dv.data(), value_dim, true});
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

}  // namespace headroom::inline HEADROOM_PRECISION
