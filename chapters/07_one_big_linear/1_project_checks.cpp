// Checks FusedHeads::project against the other layout: SeparateHeads with the same weights computes
// the same function.
#include <fmt/format.h>

#include "common/twins.hpp"
#include "headroom/base/error.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;
using chapter::Twins;

const chapter::Names names{{"batch", "token", "channel"}, {{"D", 3}, {"h", 4}, {"C", 12}}};

void compare(const Twins& twins, bool self, const char* subject) {
  const auto output = [&](const Attention& layer) {
    return self ? twins.self(layer) : twins.cross(layer);
  };
  chapter::require_equal(subject, output(twins.separate), output(twins.fused), names);
}

}  // namespace

TEST_CASE("self-attention", "[07/1]") {
  for (const std::uint64_t seed : chapter::seeds) compare(Twins(seed), true, "the outputs");
}

TEST_CASE("cross-attention", "[07/1]") {
  for (const std::uint64_t seed : chapter::seeds) compare(Twins(seed), false, "the outputs");
}

TEST_CASE("keys and values of two inputs", "[07/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Twins twins(seed);
    chapter::require_equal("the outputs", twins.attended(twins.separate, twins.memory, twins.other),
                           twins.attended(twins.fused, twins.memory, twins.other), names);
  }
}

TEST_CASE("without bias", "[07/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Twins twins(seed, false);
    chapter::require_equal("the outputs", twins.self(twins.separate), twins.self(twins.fused),
                           names);
  }
}

TEST_CASE("gradients", "[07/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Twins twins(seed);
    const Array dy = random_array({2, 3, 12}, twins.rng);
    twins.separate(twins.x, twins.memory, AttentionMask::none()).backward(dy);
    const Array dx = twins.x.grad().clone(), dmemory = twins.memory.grad().clone();
    twins.x.zero_grad();
    twins.memory.zero_grad();
    twins.fused(twins.x, twins.memory, AttentionMask::none()).backward(dy);
    chapter::require(twins.fused.in_proj_weight.grad().defined(),
                     "in_proj_weight gets no gradient, so it would never change in training.\n"
                     "value() and detach() return numbers that are not on the tape.");
    const Distance distance = gradient_distance(twins.separate, twins.fused);
    chapter::require(distance.largest < chapter::tolerance,
                     fmt::format("the gradients of the weights differ from the separate layout's, "
                                 "most in {}.",
                                 distance.where));
    chapter::require_equal("the elements of the gradient of the query", dx, twins.x.grad(), names);
    chapter::require_equal("the elements of the gradient of the memory", dmemory,
                           twins.memory.grad(), names);
  }
}

TEST_CASE("after a prune", "[07/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Twins twins(seed);
    const std::vector<Index> second{1};
    twins.separate.prune(second);
    twins.fused.prune(second);
    const std::string advice =
        "right with all heads, wrong after head 1 was removed.\nIt looks as if removed heads were "
        "counted: live() is the number of heads that are left, config().heads the original one.\n";
    std::string text;
    try {
      for (const bool self : {true, false}) {
        const auto output = [&](const Attention& layer) {
          return self ? twins.self(layer) : twins.cross(layer);
        };
        if (text.empty()) {
          text = chapter::difference("the outputs", output(twins.separate), output(twins.fused),
                                     names);
        }
      }
    } catch (const Error& error) {
      text = fmt::format("The library: {}", error.what());
    }
    chapter::require(text.empty(), advice + text);
  }
}
