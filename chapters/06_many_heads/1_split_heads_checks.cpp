// Checks composed::split_heads by plain loops, and in an attention that asks for its maps.
#include "common/checks.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/ops/composed.hpp"
#include "headroom/ops/shaping.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

constexpr Index batch = 2, tokens = 5, heads = 3, width = 4, first = 2, columns = 17;

const chapter::Names names{{"batch", "head", "token", "feature"}, {{"H", 3}, {"D", 4}}};

/// Calls visit(element of [B, T, columns], element of [B, H, T, D]) for all pairs.
template <class Visit>
void for_each_pair(Visit visit) {
  for (Index b = 0; b < batch; ++b) {
    for (Index t = 0; t < tokens; ++t) {
      for (Index h = 0; h < heads; ++h) {
        for (Index d = 0; d < width; ++d) {
          visit((b * tokens + t) * columns + first + h * width + d,
                ((b * heads + h) * tokens + t) * width + d);
        }
      }
    }
  }
}

struct Case {
  explicit Case(std::uint64_t seed) : rng(seed, "06/1") {
    x = random_array({batch, tokens, columns}, rng);
    split = Array({batch, heads, tokens, width});
    for_each_pair([&](Index from, Index to) { split[to] = x[from]; });
  }

  Rng rng;
  Array x, split;
};

}  // namespace

TEST_CASE("values: every column at its head", "[06/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    const HeadColumns side_by_side{Tensor(c.x), first};
    chapter::require_values([&] { return composed::split_heads(side_by_side, heads, width); },
                            c.split, names);
  }
}

TEST_CASE("gradients: the same way back, 0 elsewhere", "[06/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    const Tensor x = parameter(c.x);
    const Array dy = random_array(c.split.shape(), c.rng);
    Array dx = zeros(c.x.shape());
    for_each_pair([&](Index from, Index to) { dx[from] = dy[to]; });
    chapter::require_gradients(
        [&] {
          return composed::split_heads({x, first}, heads, width);
        },
        dy, {{"source", x, dx, {}, {"batch", "token", "column"}}}, names);
  }
}

TEST_CASE("an attention that shows its maps", "[06/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "06/1 attention");
    const NoGrad quiet;
    const FusedHeads layer({.width = heads * width, .heads = heads}, rng);
    const Tensor x(random_array({batch, tokens, heads * width}, rng));
    AttentionAsk ask;
    ask.maps = true;  // the unfused version, which calls split_heads
    chapter::require_equal("the outputs", layer(x, x, AttentionMask::none()).value(),
                           layer(x, x, x, AttentionMask::none(), ask).y.value(),
                           {{"batch", "token", "channel"}, {}});
  }
}
