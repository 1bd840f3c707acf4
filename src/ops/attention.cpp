// Fused attention on the tape: checks, the plan for the kernel, and the memory of its gradients.
//
// Axes: B examples, H live heads, Tq queries, Tk keys, D = head_dim, Dv = value_dim. The
// formulas and their derivatives are in kernels/attention.
#include "headroom/ops/attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/ops/dropout.hpp"
#include "kernels/attention.hpp"
#include "ops/attention_check.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

Ids key_limits(const AttentionMask& mask, const AttentionSizes& sizes) {
  // [B, Tq]
  Ids limits(Shape{sizes.batch, sizes.queries});
  for (Index b = 0; b < sizes.batch; ++b) {
    for (Index i = 0; i < sizes.queries; ++i) {
      limits[b * sizes.queries + i] = static_cast<std::int32_t>(mask.key_limit(b, i, sizes.keys));
    }
  }
  return limits;
}

kernels::AttentionPlan make_plan(const AttentionSizes& sizes, const AttentionOptions& options) {
  kernels::AttentionPlan plan{.batch = sizes.batch,
                              .heads = sizes.heads,
                              .queries = sizes.queries,
                              .keys = sizes.keys,
                              .head_dim = sizes.head_dim,
                              .value_dim = sizes.value_dim,
                              .scale = sizes.scale,
                              .limits = key_limits(options.mask, sizes),
                              .limits_differ = !options.mask.limit_is_uniform(),
                              .allowed = options.mask.allowed_bytes(),
                              .allowed_at = {},
                              .dropout = options.dropout,
                              .streams = {},
                              .first_query = options.first_query};
  if (plan.allowed.defined()) {
    for (Index b = 0; b < sizes.batch; ++b) {
      for (const Index head : sizes.original_heads) {
        plan.allowed_at.push_back(options.mask.allowed_row(b, head, 0) - plan.allowed.data());
      }
    }
  }
  if (options.score_bias.defined()) {
    plan.score_bias = options.score_bias.value();
    const int rank = plan.score_bias.rank();
    const Index matrix = rank == 1 ? 1 : sizes.queries * sizes.keys;
    for (Index b = 0; b < sizes.batch; ++b) {
      const Index example = rank == 4 ? b * plan.score_bias.dim(1) : 0;
      for (const Index head : sizes.original_heads) {
        plan.score_bias_at.push_back((example + head) * matrix);
      }
    }
  }
  if (options.dropout > 0) {
    for (const Index head : sizes.original_heads) {
      plan.streams.push_back(mask_stream(options.module, head));
    }
  }
  return plan;
}

/// Floating-point operations of a product over `width` columns for every pair of query and key
/// within the limits, in all heads.
double product_flops(const kernels::AttentionPlan& plan, Index width) {
  double pairs = 0;
  for (const std::int32_t limit : plan.limits.span()) pairs += limit;
  return 2 * pairs * double(plan.heads * width);
}

/// Query, key or value: its array, [B, T, C], and the heads' columns [first, first + width).
struct Role {
  Array source;
  int group;  // the same number for roles in one and the same tensor
  Index first, width;
  kernels::HeadRows rows() const { return {source.data() + first, source.dim(-1)}; }
  bool same_source(const Role& other) const { return group == other.group; }
  bool overlaps(const Role& other) const {
    return same_source(other) && first < other.first + other.width && other.first < first + width;
  }
};

AttentionRows row_statistics(const kernels::AttentionPlan& plan, const Role& query, const Role& key,
                             const Array& log_sum_exp) {
  OpScope op("attention rows");
  const Shape& shape = log_sum_exp.shape();
  AttentionRows rows{log_sum_exp, Array(shape), Array(shape), Ids(shape)};
  if (profiling()) {
    const Index read = plan.batch * plan.heads * plan.head_dim * (plan.queries + plan.keys);
    op.work(product_flops(plan, plan.head_dim),
            double((read + 2 * shape.size()) * Index{sizeof(Real)} +
                   shape.size() * Index{sizeof(std::int32_t)}));
  }
  kernels::attention_rows(plan, query.rows(), key.rows(),
                          {rows.entropy.data(), rows.maximum.data(), rows.allowed.data()});
  return rows;
}

/// The gradients of the three roles, [B, T, C] each. They may be columns of one source's gradient,
/// which the kernel then writes in place. Columns that no head owns get zero. Of roles that share
/// columns the later ones get a separate array, which is added at the end.
class RoleGradients {
 public:
  RoleGradients(const std::array<Role, 3>& roles, Gradients& into) : roles_(roles), into_(into) {
    for (std::size_t r = 0; r < 3; ++r) place(r);
  }
  kernels::HeadGradient operator[](std::size_t role) const { return places_[role]; }
  /// Adds the separate arrays to the gradients of their sources.
  void finish() {
    for (std::size_t r = 0; r < 3; ++r) {
      if (apart_[r].defined()) into_[r] += std::move(apart_[r]);
    }
  }

 private:
  void place(std::size_t r) {
    if (!into_[r].wanted()) return;
    const Role& role = roles_[r];
    const Index stride = role.source.dim(-1);
    for (std::size_t before = 0; before < r; ++before) {
      if (!role.overlaps(roles_[before])) continue;
      apart_[r] = Array(role.source.shape(), Real(0));
      places_[r] = {apart_[r].data() + role.first, stride, true};
      return;
    }
    auto [sum, add] = into_[r].write_or_add();
    if (!add && !all_columns_owned(r)) {
      std::fill_n(sum.data(), sum.size(), Real(0));
      add = true;
    }
    // Only the first role of a source is told to write; the columns of its later roles are as
    // empty.
    for (std::size_t before = 0; before < r; ++before) {
      if (role.same_source(roles_[before])) add = places_[before].add;
    }
    places_[r] = {sum.data() + role.first, stride, add};
  }

  /// True when each column of this role's source belongs to exactly one role.
  bool all_columns_owned(std::size_t r) const {
    Index owned = 0;
    for (std::size_t other = 0; other < 3; ++other) {
      if (!roles_[other].same_source(roles_[r])) continue;
      for (std::size_t before = 0; before < other; ++before) {
        if (roles_[other].overlaps(roles_[before])) return false;
      }
      owned += roles_[other].width;
    }
    return owned == roles_[r].source.dim(-1);
  }

  const std::array<Role, 3>& roles_;
  Gradients& into_;
  std::array<kernels::HeadGradient, 3> places_{};
  std::array<Array, 3> apart_{};
};

}  // namespace

Real attention_scale(Index head_dim) { return 1 / std::sqrt(Real(head_dim)); }

AttentionResult attention(const HeadColumns& query, const HeadColumns& key,
                          const HeadColumns& value, Index heads, Index head_dim, Index value_dim,
                          const AttentionOptions& options) {
  OpScope op("attention");
  const AttentionSizes sizes =
      check_attention(query, key, value, heads, head_dim, value_dim, options);
  const int key_group = key.source.same(query.source) ? 0 : 1;
  const int value_group = value.source.same(query.source) ? 0
                          : value.source.same(key.source) ? 1
                                                          : 2;
  const std::array<Role, 3> roles{
      Role{query.source.value(), 0, query.first, heads * head_dim},
      Role{key.source.value(), key_group, key.first, heads * head_dim},
      Role{value.source.value(), value_group, value.first, heads * value_dim}};
  kernels::AttentionPlan plan = make_plan(sizes, options);
  if (profiling()) op.work(product_flops(plan, head_dim + value_dim), 0);
  Array y(Shape{sizes.batch, sizes.queries, heads * value_dim});  // [B, Tq, H Dv]
  Array log_sum_exp(Shape{sizes.batch, heads, sizes.queries});    // [B, H, Tq]
  // y = softmax(scale Q K^T + bias) V per head: Q [B, Tq, H D], K [B, Tk, H D], V [B, Tk, H Dv]
  kernels::attention(plan, roles[0].rows(), roles[1].rows(), roles[2].rows(), y.data(),
                     log_sum_exp.data());
  const AttentionRows rows =
      options.rows ? row_statistics(plan, roles[0], roles[1], log_sum_exp) : AttentionRows{};
  Tensor result =
      record(op, y, {query.source, key.source, value.source, options.score_bias},
             [roles, plan = std::move(plan), y, log_sum_exp](const Array& dy, Gradients& into) {
               if (profiling()) {  // the scores once more, and the four products of the gradient
                 const Index width = 3 * plan.head_dim + 2 * plan.value_dim;
                 OpScope::current()->work(product_flops(plan, width), 0);
               }
               RoleGradients gradients(roles, into);
               // forward: y [B, Tq, H Dv] from Q, K, V; so dy [B, Tq, H Dv] -> dQ [B, Tq, H D],
               // dK [B, Tk, H D], dV [B, Tk, H Dv], each into its columns of its source's gradient
               kernels::attention_backward(plan, roles[0].rows(), roles[1].rows(), roles[2].rows(),
                                           y.data(), log_sum_exp.data(), dy.data(), gradients[0],
                                           gradients[1], gradients[2],
                                           into[3].wanted() ? into[3].sum().data() : nullptr);
               gradients.finish();
             });
  return {std::move(result), rows};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
