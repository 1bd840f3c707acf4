// Checks FusedHeads::project against the other layout: SeparateHeads with the same weights computes
// the same function. The hypotheses are SeparateHeads with a mistake.
#include <fmt/format.h>

#include "common/twins.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/base/error.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;
using chapter::Twins;

const chapter::Names names{{"batch", "token", "channel"}, {{"D", 3}, {"h", 4}, {"C", 12}}};
constexpr Index width = Twins::width, head_dim = Twins::head_dim;

using Linears = std::vector<std::unique_ptr<Linear>>;

void copy(const Linears& from, const Linears& to) {
  for (std::size_t h = 0; h < to.size(); ++h) {
    to[h]->weight.set_value(from[h]->weight.value().clone());
    if (to[h]->bias.defined()) to[h]->bias.set_value(from[h]->bias.value().clone());
  }
}

void remove_biases(const Linears& heads) {
  for (const auto& head : heads) head->bias.set_value(zeros(head->bias.shape()));
}

/// The layer that a fused one becomes when row i of its packed weight is taken for row order(i).
void repack(SeparateHeads& layer, const std::function<Index(Index)>& order) {
  Rng rng(1);
  FusedHeads fused(layer.config(), rng);
  transplant(layer, fused);
  std::vector<Index> rows;
  for (Index i = 0; i < fused.in_proj_weight.dim(0); ++i) rows.push_back(order(i));
  fused.in_proj_weight.set_value(gather(fused.in_proj_weight.value(), 0, rows));
  fused.in_proj_bias.set_value(gather(fused.in_proj_bias.value(), 0, rows));
  transplant(fused, layer);
}

/// The output of the separate layout after a change of its weights.
std::function<Array()> changed(const Twins& twins, bool self,
                               const std::function<void(SeparateHeads&)>& change) {
  return [&twins, self, change] {
    Rng rng(1);
    SeparateHeads other(twins.separate.config(), rng);
    transplant(const_cast<SeparateHeads&>(twins.separate), other);
    change(other);
    return self ? twins.self(other) : twins.cross(other);
  };
}

std::vector<chapter::Hypothesis> hypotheses(const Twins& twins, bool self) {
  const auto change = [&](const std::function<void(SeparateHeads&)>& of) {
    return changed(twins, self, of);
  };
  const char* parts = self ? "columns" : "rows";
  std::vector<chapter::Hypothesis> list{
      {fmt::format("the {} of the keys were taken for the values", parts),
       change([](SeparateHeads& s) { copy(s.key, s.value); })},
      {fmt::format("the {} of the values were taken for the keys", parts),
       change([](SeparateHeads& s) { copy(s.value, s.key); })},
      {fmt::format("the {} of the queries were taken for the keys", parts),
       change([](SeparateHeads& s) { copy(s.query, s.key); })},
      {"queries and keys were exchanged",
       change([](SeparateHeads& s) { std::swap(s.query, s.key); })},
      {"keys and values were exchanged",
       change([](SeparateHeads& s) { std::swap(s.key, s.value); })},
      {fmt::format("the {} of the queries were taken for all three: keys and values begin in "
                   "column 0",
                   parts),
       change([](SeparateHeads& s) {
         copy(s.query, s.key);
         copy(s.query, s.value);
       })},
      {fmt::format("the {} were read head by head, q0 k0 v0 q1 k1 v1 ... Here all queries come "
                   "first, then all keys, then all values",
                   parts),
       change([](SeparateHeads& s) {
         repack(s, [](Index row) {
           const Index third = row / width, head = row % width / head_dim;
           return (3 * head + third) * head_dim + row % head_dim;
         });
       })},
      {fmt::format("the {} were read in threes, a query, a key and a value for every feature. Here "
                   "all queries come first, then all keys, then all values",
                   parts),
       change([](SeparateHeads& s) {
         repack(s, [](Index row) { return row % width * 3 + row / width; });
       })},
      {"the bias was left out", change([](SeparateHeads& s) {
         for (const Linears* heads : {&s.query, &s.key, &s.value}) remove_biases(*heads);
       })}};
  if (!self) {
    list.push_back({"keys and values were computed from the query, not from the memory",
                    [&twins] { return twins.self(twins.separate); }});
  }
  return list;
}

void compare(const Twins& twins, bool self, const char* subject) {
  const auto output = [&](const Attention& layer) {
    return self ? twins.self(layer) : twins.cross(layer);
  };
  chapter::require_equal(subject, output(twins.separate), output(twins.fused), names,
                         hypotheses(twins, self));
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
    const auto output = [&twins](const Tensor& keys, const Tensor& values) {
      return [&] { return twins.attended(twins.separate, keys, values); };
    };
    chapter::require_equal("the outputs", output(twins.memory, twins.other)(),
                           twins.attended(twins.fused, twins.memory, twins.other), names,
                           {{"the values were computed from `key`; `value` was ignored",
                             output(twins.memory, twins.memory)},
                            {"the keys were computed from `value`; `key` was ignored",
                             output(twins.other, twins.other)},
                            {"the keys were computed from `value` and the values from `key`",
                             output(twins.other, twins.memory)}});
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
