// Fused attention on the tape: its kernel's calls and the memory of its gradients.
//
// Axes: B examples, H live heads, Tq queries, Tk keys, D = head_dim, Dv = value_dim. The
// formulas and their derivatives are in kernels/attention.
#include "headroom/ops/attention.hpp"

#include <algorithm>
#include <array>

#include "headroom/autograd/tape.hpp"
#include "kernels/attention.hpp"
#include "ops/attention_check.hpp"
#include "ops/attention_plan.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

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

Tensor attention(const HeadColumns& query, const HeadColumns& key, const HeadColumns& value,
                 Index heads, Index head_dim, Index value_dim, const AttentionOptions& options) {
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
  kernels::AttentionPlan plan = attention_plan(sizes, options);
  if (profiling()) op.work(product_flops(plan, head_dim + value_dim), 0);
  Array y(Shape{sizes.batch, sizes.queries, heads * value_dim});  // [B, Tq, H Dv]
  Array log_sum_exp(Shape{sizes.batch, heads, sizes.queries});    // [B, H, Tq]
  // y = softmax(scale Q K^T + bias) V per head: Q [B, Tq, H D], K [B, Tk, H D], V [B, Tk, H Dv]
  kernels::attention(plan, roles[0].rows(), roles[1].rows(), roles[2].rows(), y.data(),
                     log_sum_exp.data());
  return record(op, y, {query.source, key.source, value.source, options.score_bias},
                [roles, plan = std::move(plan), y, log_sum_exp](const Array& dy, Gradients& into) {
                  if (profiling()) {  // the scores once more, and the four products of the gradient
                    const Index width = 3 * plan.head_dim + 2 * plan.value_dim;
                    OpScope::current()->work(product_flops(plan, width), 0);
                  }
                  RoleGradients gradients(roles, into);
                  // forward: y [B, Tq, H Dv] from Q, K, V; so dy [B, Tq, H Dv] -> dQ [B, Tq, H D],
                  // dK [B, Tk, H D], dV [B, Tk, H Dv], each into its columns of its source's
                  // gradient
                  kernels::attention_backward(plan, roles[0].rows(), roles[1].rows(),
                                              roles[2].rows(), y.data(), log_sum_exp.data(),
                                              dy.data(), gradients[0], gradients[1], gradients[2],
                                              into[3].wanted() ? into[3].sum().data() : nullptr);
                  gradients.finish();
                });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
