// Checks sum_of_heads against the layer itself, which concatenates the heads and has one product.
#include "3_sum_of_heads.hpp"

#include <fmt/format.h>

#include "common/checks.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

constexpr Index batch = 2, tokens = 5, width = 12, head_count = 4;

const chapter::Names names{{"batch", "token", "channel"}, {{"D", 3}, {"h", 4}, {"C", 12}}};

struct Case {
  explicit Case(std::uint64_t seed, bool bias = true)
      : rng(seed, "06/3"),
        layer(AttentionConfig{.width = width, .heads = head_count, .bias = bias}, rng),
        x(parameter(random_array({batch, tokens, width}, rng))) {
    // Moderate weights, so that no softmax saturates: in float its gradient would be rounding.
    for (NamedParameter& p : parameters(layer)) {
      p.tensor.set_value(normal(p.tensor.shape(), Real(0.3), rng));
    }
  }
  chapter::Call call() const {
    return [this] { return sum_of_heads(heads(), layer.out); };
  }
  /// The outputs of the heads, [B, live, T, D].
  Tensor heads() const {
    AttentionAsk ask;
    ask.head_out = true;
    return layer(x, x, x, AttentionMask::none(), ask).head_out;
  }
  Array expected() const {
    const NoGrad quiet;
    return layer(x, x, AttentionMask::none()).value();
  }

  Rng rng;
  SeparateHeads layer;
  Tensor x;
};

}  // namespace

TEST_CASE("values: the layer's output", "[06/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    chapter::require_values(c.call(), c.expected(), names);
  }
}

TEST_CASE("gradients", "[06/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    const Array dy = random_array({batch, tokens, width}, c.rng);
    c.layer(c.x, c.x, AttentionMask::none()).backward(dy);
    std::vector<chapter::Input> inputs;
    for (const auto& [name, tensor] : {std::pair("x", c.x),
                                       {"out.weight", c.layer.out.weight},
                                       {"out.bias", c.layer.out.bias}}) {
      inputs.push_back({name, tensor, tensor.grad().clone(), {}, {}});
    }
    for (chapter::Input& input : inputs) input.tensor.zero_grad();
    chapter::require_gradients(c.call(), dy, inputs, {});
  }
}

TEST_CASE("without biases", "[06/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed, false);
    std::string text;
    try {
      const Tensor y = c.call()();
      text = y.defined() ? chapter::difference("the values", c.expected(), y.value(), names)
                         : "the function returned an undefined tensor.";
    } catch (const std::exception& error) {
      text = fmt::format("Your code was stopped: {}.", error.what());
    }
    chapter::require(text.empty(),
                     "wrong for a layer without biases, whose out.bias is undefined.\n" + text);
  }
}

TEST_CASE("after a prune", "[06/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    const std::vector<Index> second{1};
    c.layer.prune(second);
    std::string text;
    try {
      text = chapter::difference("the values", c.expected(), c.call()().value(), names);
    } catch (const std::exception& error) {
      text = fmt::format("Your code was stopped: {}.", error.what());
    }
    chapter::require(
        text.empty(),
        "right with all heads, wrong after head 1 was removed. W_O has lost its columns: "
        "live head number i has the columns from i D on.\n" +
            text);
  }
}
