// Checks SeparateHeads::project against the other layout: FusedHeads with the same weights computes
// the same function.
#include <fmt/format.h>

#include "common/twins.hpp"
#include "headroom/algebra/algebra.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;
using chapter::Twins;

const chapter::Names names{{"batch", "token", "channel"}, {{"D", 3}, {"h", 4}, {"C", 12}}};
constexpr Index width = Twins::width, head_count = Twins::heads, head_dim = Twins::head_dim;

}  // namespace

TEST_CASE("self-attention", "[06/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Twins twins(seed);
    chapter::require_equal("the outputs", twins.self(twins.fused), twins.self(twins.separate),
                           names);
  }
}

TEST_CASE("cross-attention", "[06/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Twins twins(seed);
    chapter::require_equal("the outputs", twins.cross(twins.fused), twins.cross(twins.separate),
                           names);
  }
}

TEST_CASE("keys and values of two inputs", "[06/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Twins twins(seed);
    chapter::require_equal("the outputs", twins.attended(twins.fused, twins.memory, twins.other),
                           twins.attended(twins.separate, twins.memory, twins.other), names);
  }
}

TEST_CASE("moving one slice of the input moves every head", "[06/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Twins twins(seed);
    const NoGrad quiet;
    AttentionAsk ask;
    ask.head_out = true;
    const auto outputs = [&](const Array& x) {
      const Tensor input(x);
      return twins.separate(input, input, input, AttentionMask::none(), ask).head_out.value();
    };
    const Array before = outputs(twins.x.value());
    for (Index part = 0; part < head_count; ++part) {
      Array x = twins.x.value().clone();
      for (Index i = 0; i < x.size(); ++i) x[i] += i % width / head_dim == part ? 1 : 0;
      const Array after = outputs(x);
      for (Index head = 0; head < head_count; ++head) {
        const AxisRange own{1, head, head + 1};
        chapter::require(
            largest_difference(slice(before, own), slice(after, own)) > 0,
            fmt::format(
                "moving slice {} of the input leaves head {} where it was: every head reads "
                "the whole token.",
                part, head));
      }
    }
  }
}

TEST_CASE("keys and values that are in the cache", "[06/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Twins twins(seed);
    const NoGrad quiet;
    KeyValueCache cache;
    cache.fixed = true;
    std::string text;
    try {
      const auto output = [&] {
        return twins
            .separate(twins.x, twins.memory, twins.memory, AttentionMask::none(), {}, &cache)
            .y.value();
      };
      output();  // fills the cache
      text = chapter::difference("the outputs", twins.cross(twins.fused), output(), names);
    } catch (const std::exception& error) {
      text = fmt::format("Your code was stopped: {}.", error.what());
    }
    chapter::require(
        text.empty(),
        "the second call of a cross-attention with a cache fails.\nkeys and values are "
        "in the cache, so `keys` and `values` are undefined. Project the query only.\n" +
            text);
  }
}

TEST_CASE("gradients", "[06/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Twins twins(seed);
    const Array dy = random_array({2, 3, width}, twins.rng);
    twins.fused(twins.x, twins.memory, AttentionMask::none()).backward(dy);
    const Array dx = twins.x.grad().clone(), dmemory = twins.memory.grad().clone();
    twins.x.zero_grad();
    twins.memory.zero_grad();
    twins.separate(twins.x, twins.memory, AttentionMask::none()).backward(dy);
    for (const auto& [name, tensor] : parameters(twins.separate)) {
      chapter::require(tensor.grad().defined(),
                       fmt::format("{} gets no gradient, so it would never change in training.\n"
                                   "value() and detach() return numbers that are not on the tape.",
                                   name));
    }
    const Distance distance = gradient_distance(twins.separate, twins.fused);
    chapter::require(
        distance.largest < chapter::tolerance,
        fmt::format("the gradients of the weights differ from the fused layout's, most "
                    "in {}.",
                    distance.where));
    chapter::require_equal("the elements of the gradient of the query", dx, twins.x.grad(), names);
    chapter::require_equal("the elements of the gradient of the memory", dmemory,
                           twins.memory.grad(), names);
  }
}

TEST_CASE("after a prune", "[06/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Twins twins(seed);
    const std::vector<Index> second{1};
    twins.separate.prune(second);
    twins.fused.prune(second);
    std::string text;
    try {
      text = chapter::difference("the outputs", twins.self(twins.fused), twins.self(twins.separate),
                                 names);
    } catch (const std::exception& error) {
      text = fmt::format("Your code was stopped: {}.", error.what());
    }
    chapter::require(text.empty(),
                     "right with all heads, wrong after head 1 was removed.\nquery, key and value "
                     "hold the Linears of the heads that are left, config().heads is the original "
                     "number of heads.\n" +
                         text);
  }
}
