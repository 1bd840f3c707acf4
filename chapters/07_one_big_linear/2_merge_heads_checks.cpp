// Checks composed::merge_heads: first by what a wrong merge does to an attention, then element by
// element.
#include <fmt/format.h>

#include "common/checks.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/ops/composed.hpp"
#include "headroom/ops/shaping.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

constexpr Index batch = 2, heads = 3, tokens = 6, head_dim = 4;

const chapter::Names names{{"batch", "token", "channel"}, {{"H", 3}, {"D", 4}}};
const char* const before_names[] = {"batch", "head", "token", "feature"};

/// Calls visit(element of [B, H, T, D], element of [B, T, H D]) for all pairs.
template <class Visit>
void for_each_pair(Visit visit) {
  for (Index b = 0; b < batch; ++b) {
    for (Index h = 0; h < heads; ++h) {
      for (Index t = 0; t < tokens; ++t) {
        for (Index d = 0; d < head_dim; ++d) {
          visit(((b * heads + h) * tokens + t) * head_dim + d,
                ((b * tokens + t) * heads + h) * head_dim + d);
        }
      }
    }
  }
}

struct Case {
  explicit Case(std::uint64_t seed) : rng(seed, "07/2") {
    x = random_array({batch, heads, tokens, head_dim}, rng);
    merged = Array({batch, tokens, heads * head_dim});
    for_each_pair([&](Index from, Index to) { merged[to] = x[from]; });
  }

  Rng rng;
  Array x, merged;
};

}  // namespace

TEST_CASE("shape: [B, H, T, D] becomes [B, T, H D]", "[07/2]") {
  const Case c(1);
  const Tensor y = composed::merge_heads(Tensor(c.x));
  chapter::require(y.defined(), "the function returned an undefined tensor: it needs a value.");
  chapter::require(y.shape() == c.merged.shape(),
                   fmt::format("the merged heads have the shape {}, expected {}: batch, token, "
                               "channel.",
                               y.shape().text(), c.merged.shape().text()));
}

TEST_CASE("a causal mask hides the last token", "[07/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    const NoGrad quiet;
    const FusedHeads layer({.width = heads * head_dim, .heads = heads}, c.rng);
    AttentionAsk ask;
    ask.maps = true;  // the unfused version, which calls merge_heads
    const auto output = [&](const Array& x) {
      const Tensor input(x);
      return layer(input, input, input, AttentionMask::causal(), ask).y.value();
    };
    const Array x = random_array({batch, tokens, layer.config().width}, c.rng);
    Array changed = x.clone();
    for (Index b = 0; b < batch; ++b) {
      const Index last = (b * tokens + tokens - 1) * x.dim(2);
      for (Index i = 0; i < x.dim(2); ++i) changed[last + i] += 1;
    }
    const Array before = output(x), after = output(changed);
    for (Index t = 0; t + 1 < tokens; ++t) {
      const AxisRange token{1, t, t + 1};
      const double moved = largest_difference(slice(before, token), slice(after, token));
      if (moved == 0) continue;
      chapter::require(
          false, fmt::format("under a causal mask, changing the last token ({}) moved output {} by "
                             "{:.2g}: the future leaks into the past.\n",
                             tokens - 1, t, moved) +
                     chapter::difference("merge_heads itself: the values", c.merged,
                                         composed::merge_heads(Tensor(c.x)).value(), names));
    }
    SUCCEED();
  }
}

TEST_CASE("values: every feature in its channel", "[07/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    const Tensor x(c.x);
    chapter::require_values([&] { return composed::merge_heads(x); }, c.merged, names);
  }
}

TEST_CASE("gradients: the same way back", "[07/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    const Tensor x = parameter(c.x);
    const Array dy = random_array(c.merged.shape(), c.rng);
    Array dx(c.x.shape());
    for_each_pair([&](Index from, Index to) { dx[from] = dy[to]; });
    chapter::require_gradients(
        [&] { return composed::merge_heads(x); }, dy,
        {{"heads", x, dx, {}, {std::begin(before_names), std::end(before_names)}}}, names);
  }
}
