// Checks AttentionMask::key_limit: each condition on its own, both together, and what an attention
// makes of it.
#include <fmt/format.h>

#include "common/checks.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom/ops/attention.hpp"

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

chapter::Hypothesis if_it_was(const char* looks_as_if, const Limit& limit) {
  return {looks_as_if, [limit] { return table(limit); }};
}

/// Random lengths from 0 to the number of keys.
Ids draw_lengths(const Shape& shape, Rng& rng) {
  Ids lengths(shape);
  for (Index i = 0; i < lengths.size(); ++i) {
    lengths[i] = static_cast<std::int32_t>(rng.below(keys + 1));
  }
  return lengths;
}

void compare(const AttentionMask& mask, const Limit& right,
             const std::vector<chapter::Hypothesis>& hypotheses) {
  const Array yours = table([&](Index b, Index i) { return mask.key_limit(b, i, keys); });
  chapter::require_equal("the limits", table(right), yours, names, hypotheses);
}

}  // namespace

TEST_CASE("causal: the token itself and those before", "[05/3]") {
  compare(
      AttentionMask::causal(), [](Index, Index i) { return i + 1; },
      {if_it_was("query 0 sees nobody: a token may see itself, so its limit is one more than its "
                 "position",
                 [](Index, Index i) { return i; }),
       if_it_was("every query sees the token after it, which is the answer in a language model",
                 [](Index, Index i) { return i + 2; }),
       if_it_was("the mask was ignored", [](Index, Index) { return keys; }),
       if_it_was("the limit was counted from the last key: it should be right for any number of "
                 "keys",
                 [](Index, Index i) { return keys - queries + i + 1; })});
  compare(AttentionMask::none(), [](Index, Index) { return keys; }, {});
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
    compare(
        AttentionMask::causal(offset), [=](Index, Index i) { return bounded(i + offset + 1); },
        {if_it_was("the offset was ignored: it is right without a cache. With 3 keys in the cache, "
                   "query 0 is token 3 of the text, and sees 4 keys",
                   [](Index, Index i) { return i + 1; }),
         if_it_was("the limit became less than 0; then there is no key to see, and it is 0",
                   [=](Index, Index i) { return std::min(keys, i + offset + 1); }),
         if_it_was("the limit became more than `keys`",
                   [=](Index, Index i) { return std::max<Index>(0, i + offset + 1); })});
  }
}

TEST_CASE("lengths: one per example, or one per query", "[05/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "05/3");
    const Ids lengths = draw_lengths({batch}, rng), fine = draw_lengths({batch, queries}, rng);
    compare(AttentionMask::lengths(lengths), [=](Index b, Index) { return lengths[b]; },
            {if_it_was("the lengths were read by query: lengths_[b] is that of the example",
                       [=](Index, Index i) { return lengths[i]; }),
             if_it_was("the lengths were ignored", [](Index, Index) { return keys; }),
             if_it_was("the length was taken for the last key; it is the number of keys",
                       [=](Index b, Index) { return bounded(lengths[b] + 1); })});
    compare(AttentionMask::lengths(fine), [=](Index b, Index i) { return fine[b * queries + i]; },
            {if_it_was("the lengths of each query were read as if there was one for each example: "
                       "lengths_.rank() is 2 here",
                       [=](Index b, Index) { return fine[b]; }),
             if_it_was("the lengths were read by query, those of example 0 for all",
                       [=](Index, Index i) { return fine[i]; })});
  }
}

TEST_CASE("both conditions", "[05/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "05/3 both");
    const Ids lengths = draw_lengths({batch}, rng);
    const auto causal = [](Index, Index i) { return i + 3; };
    const auto length = [=](Index b, Index) { return Index{lengths[b]}; };
    compare(AttentionMask::causal(2) & AttentionMask::lengths(lengths),
            [=](Index b, Index i) { return std::min(causal(b, i), length(b, i)); },
            {if_it_was("one of the two conditions was enough: a key must be allowed by both",
                       [=](Index b, Index i) { return std::max(causal(b, i), length(b, i)); }),
             if_it_was("one of the two conditions was ignored: the causal one", length),
             if_it_was("one of the two conditions was ignored: the lengths", causal)});
  }
}
