// Checks SeparateHeads::project against the other layout: FusedHeads with the same weights computes
// the same function. The hypotheses are layers with a mistake.
#include <fmt/format.h>

#include "common/twins.hpp"
#include "headroom/algebra/algebra.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;
using chapter::Twins;
using Linears = std::vector<std::unique_ptr<Linear>>;

const chapter::Names names{{"batch", "token", "channel"}, {{"D", 3}, {"h", 4}, {"C", 12}}};
constexpr Index width = Twins::width, head_count = Twins::heads, head_dim = Twins::head_dim;

void copy(const Linear& from, Linear& to) {
  to.weight.set_value(from.weight.value().clone());
  to.bias.set_value(from.bias.value().clone());
}

/// Calls change(Linear, index of its head, Linears of its kind) for all projections.
void for_each_linear(SeparateHeads& layer,
                     const std::function<void(Linear&, Index, Linears&)>& change) {
  for (Linears* heads : {&layer.query, &layer.key, &layer.value}) {
    for (std::size_t i = 0; i < heads->size(); ++i) change(*(*heads)[i], Index(i), *heads);
  }
}

/// Zeros outside the columns that a head would read if it saw only its slice of the token.
void blind(Linear& linear, Index head) {
  Array weight = linear.weight.value().clone();
  for (Index i = 0; i < weight.size(); ++i) {
    if (i % width / head_dim != head) weight[i] = 0;
  }
  linear.weight.set_value(weight);
}

/// The rows of each third in the order in which interleaved heads are found by a layout that takes
/// them as blocked.
void interleave(FusedHeads& layer) {
  std::vector<Index> order;
  for (Index row = 0; row < 3 * width; ++row) {
    const Index third = row / width, channel = row % width;
    order.push_back(third * width + channel % head_count * head_dim + channel / head_count);
  }
  layer.in_proj_weight.set_value(gather(layer.in_proj_weight.value(), 0, order));
  layer.in_proj_bias.set_value(gather(layer.in_proj_bias.value(), 0, order));
}

std::vector<chapter::Hypothesis> hypotheses(const Twins& twins, bool self) {
  // The output after a change of the weights, computed by the fused layout.
  const auto changed = [&twins, self](const std::function<void(SeparateHeads&)>& change,
                                      const std::function<void(FusedHeads&)>& then = {}) {
    return [&twins, self, change, then] {
      Rng rng(1);
      SeparateHeads other(twins.separate.config(), rng);
      FusedHeads layer(twins.separate.config(), rng);
      copy_parameters(const_cast<SeparateHeads&>(twins.separate), other);
      if (change) change(other);
      transplant(other, layer);
      if (then) then(layer);
      return self ? twins.self(layer) : twins.cross(layer);
    };
  };
  const auto copy_all = [](const Linears& from, Linears& to) {
    for (std::size_t i = 0; i < to.size(); ++i) copy(*from[i], *to[i]);
  };
  std::vector<chapter::Hypothesis> list{
      {"every head is head 0: the first Linear was applied for all of them",
       changed([](SeparateHeads& s) {
         for_each_linear(s, [](Linear& own, Index, Linears& all) { copy(*all[0], own); });
       })},
      {"every head read only its own slice of the token; it must read all of it",
       changed([](SeparateHeads& s) {
         for_each_linear(s, [](Linear& own, Index head, Linears&) { blind(own, head); });
       })},
      {"the Linears of the keys were applied for the values",
       changed([=](SeparateHeads& s) { copy_all(s.key, s.value); })},
      {"the Linears of the values were applied for the keys",
       changed([=](SeparateHeads& s) { copy_all(s.value, s.key); })},
      {"the Linears of the queries were applied for the keys",
       changed([=](SeparateHeads& s) { copy_all(s.query, s.key); })},
      {"the biases were left out", changed([](SeparateHeads& s) {
         for_each_linear(
             s, [](Linear& own, Index, Linears&) { own.bias.set_value(zeros(own.bias.shape())); });
       })},
      {"the heads are interleaved: head h must have columns next to each other, not every H-th one",
       changed({}, interleave)}};
  if (!self) {
    list.push_back({"keys and values were computed from the query, not from the memory",
                    [&twins] { return twins.self(twins.fused); }});
  }
  return list;
}

}  // namespace

TEST_CASE("self-attention", "[06/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Twins twins(seed);
    chapter::require_equal("the outputs", twins.self(twins.fused), twins.self(twins.separate),
                           names, hypotheses(twins, true));
  }
}

TEST_CASE("cross-attention", "[06/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Twins twins(seed);
    chapter::require_equal("the outputs", twins.cross(twins.fused), twins.cross(twins.separate),
                           names, hypotheses(twins, false));
  }
}

TEST_CASE("keys and values of two inputs", "[06/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Twins twins(seed);
    const auto output = [&twins](const Tensor& keys, const Tensor& values) {
      return [&] { return twins.attended(twins.fused, keys, values); };
    };
    chapter::require_equal("the outputs", output(twins.memory, twins.other)(),
                           twins.attended(twins.separate, twins.memory, twins.other), names,
                           {{"the values were computed from `keys`; `values` was ignored",
                             output(twins.memory, twins.memory)},
                            {"the keys were computed from `values`; `keys` was ignored",
                             output(twins.other, twins.other)},
                            {"the keys were computed from `values` and the values from `keys`",
                             output(twins.other, twins.memory)}});
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
