// Checks Attention::projection_fan_out: the number itself, the weights that both layouts draw with
// it, and that a prune does not change it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/checks.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/separate_heads.hpp"
#include "headroom/ops/shaping.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library

/// A layer whose protected function the checks may call.
struct Open : FusedHeads {
  using FusedHeads::FusedHeads;
  Index fan_out() const { return projection_fan_out(); }
};

struct Policy {
  FanPolicy policy;
  const char* name;
};
constexpr Policy policies[] = {{FanPolicy::per_matrix, "per_matrix"},
                               {FanPolicy::packed, "packed"},
                               {FanPolicy::per_head, "per_head"}};

AttentionConfig config_of(FanPolicy policy, Index width, Index heads, Index head_dim) {
  return {.width = width, .heads = heads, .head_dim = head_dim, .init = policy};
}

Index right(FanPolicy policy, Index heads, Index head_dim) {
  return (policy == FanPolicy::packed       ? 3 * heads
          : policy == FanPolicy::per_matrix ? heads
                                            : 1) *
         head_dim;
}

/// The standard deviation of the scores at the start: C times the variance of the weights.
double logits(Index width, Index fan_out) { return 2 * double(width) / double(width + fan_out); }

void compare(Index width, Index heads, Index head_dim) {
  for (const auto& [policy, name] : policies) {
    Rng rng(1);
    const Open layer(config_of(policy, width, heads, head_dim), rng);
    const Index expected = right(policy, heads, head_dim), yours = layer.fan_out();
    if (yours == expected) continue;
    std::string text = fmt::format(
        "{} heads of {} rows, width {}: with FanPolicy::{} your function returns {}, expected {}: "
        "the logits start at {:.2f} instead of {:.2f}.",
        heads, head_dim, width, name, yours, expected, logits(width, yours),
        logits(width, expected));
    const Index of_width = right(policy, 1, width);
    if (heads * head_dim != width && policy != FanPolicy::per_head && yours == of_width) {
      text += "\nIt looks as if H D was taken to be C.";
    }
    if (policy == FanPolicy::per_head && yours == heads) {
      text += "\nIt looks as if the number of heads was returned, not the rows of one.";
    }
    FAIL(text);
  }
  SUCCEED();
}

/// The largest of the absolute values of a projection.
Real largest(const Tensor& weight) {
  Real most = 0;
  for (const Real value : weight.value().span()) most = std::max(most, std::abs(value));
  return most;
}

}  // namespace

TEST_CASE("each policy", "[08/1]") { compare(12, 4, 3); }

TEST_CASE("heads that do not add up to the width", "[08/1]") {
  compare(12, 4, 5);
  compare(20, 3, 2);
}

TEST_CASE("the weights of both layouts", "[08/1]") {
  constexpr Index width = 24, heads = 4, head_dim = 6;
  for (const std::uint64_t seed : chapter::seeds) {
    for (const auto& [policy, name] : policies) {
      Rng of_fused(seed), of_separate(seed);
      const FusedHeads fused(config_of(policy, width, heads, head_dim), of_fused);
      const SeparateHeads separate(config_of(policy, width, heads, head_dim), of_separate);
      const Real bound = std::sqrt(Real(6) / Real(width + right(policy, heads, head_dim)));
      const Real drawn = largest(fused.in_proj_weight);
      chapter::require(drawn <= bound && drawn > Real(0.95) * bound,
                       fmt::format("FanPolicy::{}: the largest weight is {:.3f}, but Xavier's rule "
                                   "draws them up to {:.3f}.",
                                   name, drawn, bound));
      chapter::require_equal("the first weights of the separate layout",
                             slice(fused.in_proj_weight, 0, 0, head_dim).value(),
                             separate.query[0]->weight.value(), {{"row", "column"}, {}});
    }
  }
}

TEST_CASE("after a prune", "[08/1]") {
  for (const auto& [policy, name] : policies) {
    Rng rng(1);
    Open layer(config_of(policy, 12, 4, 3), rng);
    layer.prune(std::vector<Index>{1});
    const Index expected = right(policy, 4, 3), yours = layer.fan_out();
    chapter::require(
        yours == expected,
        fmt::format("with FanPolicy::{} the result changes from {} to {} when head 1 is removed. "
                    "The size of a first weight is a matter of the matrix that was drawn.{}",
                    name, expected, yours,
                    yours == right(policy, 3, 3)
                        ? "\nIt looks as if removed heads were not counted: live() is the number "
                          "of heads that are left."
                        : ""));
  }
}
