// Checks AttentionMask::key_limit: each condition on its own, both together, and what an attention
// makes of it.
#include <fmt/format.h>

#include "common/checks.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/ops/attention.hpp"
#include "headroom/surgery/transplant.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

constexpr Index batch = 5, queries = 4, keys = 9;

const chapter::Names names{{"batch", "query"}, {}};

using Limit = std::function<Index(Index b, Index i)>;

Array table(const Limit& limit) {
  Array limits({batch, queries});
  for (Index e = 0; e < limits.size(); ++e) limits[e] = Real(limit(e / queries, e % queries));
  return limits;
}

Index bounded(Index limit) { return std::clamp<Index>(limit, 0, keys); }

/// Random lengths from 0 to the number of keys.
Ids draw_lengths(const Shape& shape, Rng& rng) {
  Ids lengths(shape);
  for (Index i = 0; i < lengths.size(); ++i) {
    lengths[i] = static_cast<std::int32_t>(rng.below(keys + 1));
  }
  return lengths;
}

void compare(const AttentionMask& mask, const Limit& right) {
  const Array yours = table([&](Index b, Index i) { return mask.key_limit(b, i, keys); });
  chapter::require_equal("the limits", table(right), yours, names);
}

}  // namespace

TEST_CASE("causal: the token itself and those before", "[05/3]") {
  compare(AttentionMask::causal(), [](Index, Index i) { return i + 1; });
  compare(AttentionMask::none(), [](Index, Index) { return keys; });
}

TEST_CASE("nothing leaks: the last token moves no output before it", "[05/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "05/3 leak");
    const NoGrad quiet;
    const Array x = random_array({1, queries, 3}, rng);
    Array changed = x.clone();
    for (Index d = 0; d < 3; ++d) changed[(queries - 1) * 3 + d] += 1;
    const AttentionOptions options{.mask = AttentionMask::causal()};
    const auto output = [&](const Array& input) {
      const HeadColumns all{Tensor(input), 0};
      return slice(attention(all, all, all, 1, 3, 3, options).value(), {1, 0, queries - 1});
    };
    chapter::require(largest_difference(output(x), output(changed)) == 0,
                     "changing the last token moved an output before it: the mask leaks.");
  }
}

TEST_CASE("causal with a cache: an offset", "[05/3]") {
  for (const Index offset : {3, 1, -2, 7}) {
    compare(AttentionMask::causal(offset), [=](Index, Index i) { return bounded(i + offset + 1); });
  }
}

TEST_CASE("lengths: one per example, or one per query", "[05/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "05/3");
    const Ids lengths = draw_lengths({batch}, rng), fine = draw_lengths({batch, queries}, rng);
    compare(AttentionMask::lengths(lengths), [=](Index b, Index) { return lengths[b]; });
    compare(AttentionMask::lengths(fine), [=](Index b, Index i) { return fine[b * queries + i]; });
  }
}

TEST_CASE("both conditions", "[05/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "05/3 both");
    const Ids lengths = draw_lengths({batch}, rng);
    compare(AttentionMask::causal(2) & AttentionMask::lengths(lengths),
            [=](Index b, Index i) { return std::min<Index>(i + 3, lengths[b]); });
  }
}
