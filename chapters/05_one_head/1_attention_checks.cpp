// Checks composed::attention against plain loops, then against the fused operation with the options
// that the plain loops do not have.
#include <fmt/format.h>

#include "05_one_head/plain.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/ops/composed.hpp"
#include "headroom/ops/dropout.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::PlainAttention;
using chapter::random_array;

constexpr Index batch = 2, heads = 3, queries = 4, keys = 6, head_dim = 5;

const chapter::Names map_names{{"batch", "head", "query", "key"}, {{"D", 5}, {"H", 3}}};
const chapter::Names out_names{{"batch", "head", "query", "feature"}, {{"D", 5}, {"H", 3}}};

struct Case {
  explicit Case(std::uint64_t seed, const AttentionMask& mask = {}, Index value_dim = head_dim)
      : rng(seed, "05/1"),
        plain{heads,
              {random_array({batch, queries, heads * head_dim + 3}, rng), 2, head_dim},
              {random_array({batch, keys, heads * head_dim + 1}, rng), 0, head_dim},
              {random_array({batch, keys, heads * value_dim}, rng), 0, value_dim},
              mask,
              1 / std::sqrt(double(head_dim))},
        query(parameter(plain.query.source)),
        key(parameter(plain.key.source)),
        value(parameter(plain.value.source)) {
    options.mask = mask;
  }
  composed::Attention yours() const {
    return composed::attention({query, plain.query.first}, {key, plain.key.first},
                               {value, plain.value.first}, heads, head_dim, plain.value.width,
                               options);
  }

  Rng rng;
  PlainAttention plain;
  Tensor query, key, value;
  AttentionOptions options;
};

/// Compares the maps, then what is made of them.
void compare(const Case& c) {
  const NoGrad quiet;
  const composed::Attention yours = c.yours();
  chapter::require(yours.maps.defined() && yours.head_out.defined() && yours.y.defined(),
                   "a tensor of the result is undefined: y, maps and head_out need a value.");
  chapter::require_equal("the weights", c.plain.maps(), yours.maps.value(), map_names);
  chapter::require_equal("the outputs of the heads", c.plain.head_out(), yours.head_out.value(),
                         out_names);
  chapter::require_equal("the merged outputs", c.plain.y(), yours.y.value(),
                         {{"batch", "query", "channel"}, {}});
}

}  // namespace

TEST_CASE("values: every query averages the values of the keys", "[05/1]") {
  for (const std::uint64_t seed : chapter::seeds) compare(Case(seed));
}

TEST_CASE("a mask", "[05/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    compare(Case(seed, AttentionMask::causal(2)));
    Rng rng(seed, "05/1 mask");
    Bytes allowed({batch, heads, queries, keys});
    for (Index e = 0; e < allowed.size(); ++e) allowed[e] = rng.uniform() < Real(0.6) ? 1 : 0;
    compare(Case(seed, AttentionMask::allow(allowed)));
  }
}

TEST_CASE("another scale, and values of another width", "[05/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed, AttentionMask::none(), head_dim + 2);
    c.options.scale = Real(0.3);
    c.plain.scale = double(c.options.scale);
    compare(c);
  }
}

TEST_CASE("gradients", "[05/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed, AttentionMask::causal(1));
    const Array dy = random_array({batch, queries, heads * head_dim}, c.rng);
    const auto right = c.plain.backward(dy);
    const std::vector<std::string> axes{"batch", "token", "column"};
    chapter::require_gradients([&] { return c.yours().y; }, dy,
                               {{"query", c.query, right.query, {}, axes},
                                {"key", c.key, right.key, {}, axes},
                                {"value", c.value, right.value, {}, axes}});
  }
}

TEST_CASE("dropout and a score bias", "[05/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed, AttentionMask::causal(1));
    const NoGrad quiet;
    const RandomStep step(seed, 1);
    for (const bool dropout : {true, false}) {
      c.options.dropout = dropout ? Real(0.3) : Real(0);
      c.options.score_bias =
          dropout ? Tensor() : Tensor(random_array({heads, queries, keys}, c.rng));
      const Tensor fused =
          attention({c.query, 2}, {c.key, 0}, {c.value, 0}, heads, head_dim, head_dim, c.options);
      const std::string text = chapter::difference(
          "the outputs", fused.value(), c.yours().y.value(), {{"batch", "query", "channel"}, {}});
      chapter::require(text.empty(),
                       dropout ? "right without dropout, wrong with it: the averages must be made "
                                 "with the weights that are left, `dropped`. " +
                                     text
                               : "right without a score bias, wrong with it: the softmax must be "
                                 "that of `biased`. " +
                                     text);
    }
  }
}
