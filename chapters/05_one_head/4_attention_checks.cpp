// Checks the gradient of attention against plain loops in double. The hypotheses are these loops
// with a mistake.
#include <fmt/format.h>

#include <limits>

#include "05_one_head/plain.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/ops/attention.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::PlainAttention;
using chapter::random_array;

const std::vector<std::string> axes{"batch", "token", "column"};

struct Sizes {
  Index batch, heads, queries, keys, head_dim, value_dim;
};
constexpr Sizes square{2, 2, 4, 4, 3, 3}, different{2, 3, 4, 6, 5, 2};

struct Case {
  Case(std::uint64_t seed, const Sizes& n, const AttentionMask& mask)
      : rng(seed, "05/4"),
        plain{n.heads,
              {random_array({n.batch, n.queries, n.heads * n.head_dim}, rng), 0, n.head_dim},
              {random_array({n.batch, n.keys, n.heads * n.head_dim}, rng), 0, n.head_dim},
              {random_array({n.batch, n.keys, n.heads * n.value_dim}, rng), 0, n.value_dim},
              mask,
              1 / std::sqrt(double(n.head_dim))},
        query(parameter(plain.query.source)),
        key(parameter(plain.key.source)),
        value(parameter(plain.value.source)),
        dy(random_array({n.batch, n.queries, n.heads * n.value_dim}, rng)) {}

  Tensor yours() const {
    return attention({query}, {key}, {value}, plain.heads, plain.query.width, plain.value.width,
                     {.mask = plain.mask});
  }
  using Gradients = PlainAttention::Gradients;
  template <class Change>
  chapter::Hypothesis mistake(const char* looks_as_if, Array Gradients::*of, Change change) const {
    return {looks_as_if, [=, this] { return chapter::with(plain, change).backward(dy).*of; }};
  }
  /// The mistakes that concern query and key alike.
  std::vector<chapter::Hypothesis> about_scores(Array Gradients::*of) const {
    return {
        mistake("the mean of the row is missing in dS = P (dP - mean). It is there because the "
                "weights of a row sum to 1: one can only grow if others shrink",
                of, [](PlainAttention& a) { a.with_mean = false; }),
        mistake("the mean was taken without the weights: it is the sum of P dP over the row", of,
                [](PlainAttention& a) { a.plain_mean = true; }),
        mistake("the mean was divided by the number of keys: the weights of a row sum to 1, so the "
                "sum of P dP is a mean already",
                of, [](PlainAttention& a) { a.mean_share = true; }),
        mistake("the mean was used before it was complete: it needs a loop over the keys of its "
                "own",
                of, [](PlainAttention& a) { a.running_mean = true; }),
        mistake("the scale is missing on the way back: the scores are scale q k, so dS goes on to "
                "q and k times the scale",
                of, [](PlainAttention& a) { a.scale_back = false; })};
  }
  std::vector<chapter::Input> inputs() const {
    const Gradients right = plain.backward(dy);
    chapter::Input for_query{"query", query, right.query, about_scores(&Gradients::query), axes};
    chapter::Input for_key{"key", key, right.key, about_scores(&Gradients::key), axes};
    chapter::Input for_value{"value", value, right.value, {}, axes};
    for_query.hypotheses.push_back(
        {"the gradient of the keys went to the query: slot 0 of `into` is the query's",
         [=] { return right.key; }});
    for_query.hypotheses.push_back(
        mistake("only the last key that a query may see was counted: every key adds its part to dq",
                &Gradients::query, [](PlainAttention& a) { a.last_key = true; }));
    for_query.hypotheses.push_back(
        mistake("dq was made of queries: a score is q k, so its derivative by q is k. The dS of a "
                "row sum to 0, so nothing is left",
                &Gradients::query, [](PlainAttention& a) { a.query_crossed = true; }));
    for_value.hypotheses.push_back(mistake(
        "only the last query that may see a key was counted: every query adds its part to dv",
        &Gradients::value, [](PlainAttention& a) { a.last_value = true; }));
    for_key.hypotheses.push_back(mistake(
        "only the last query that may see a key was counted: every query adds its part to dk",
        &Gradients::key, [](PlainAttention& a) { a.last_query = true; }));
    for_key.hypotheses.push_back(
        mistake("dk was made of keys: a score is q k, so its derivative by k is q", &Gradients::key,
                [](PlainAttention& a) { a.crossed = true; }));
    if (plain.queries() == plain.keys()) {
      for_value.hypotheses.push_back(
          mistake("P was read transposed: P(b, h, i, j) is what query i gives to key j",
                  &Gradients::value, [](PlainAttention& a) { a.transposed = true; }));
    }
    return {for_query, for_key, for_value};
  }
  void check() const {
    chapter::require_gradients([this] { return yours(); }, dy, inputs());
  }

  Rng rng;
  PlainAttention plain;
  Tensor query, key, value;
  Array dy;
};

/// Random bytes, with a key that nobody may see and a query that may see nothing.
AttentionMask random_mask(std::uint64_t seed, const Sizes& n) {
  Rng rng(seed, "05/4 mask");
  Bytes allowed({n.queries, n.keys});
  for (Index e = 0; e < allowed.size(); ++e) {
    const bool closed = e % n.keys == 1 || e / n.keys == 2;
    allowed[e] = !closed && rng.uniform() < Real(0.7) ? 1 : 0;
  }
  return AttentionMask::allow(allowed);
}

}  // namespace

TEST_CASE("gradients: as many queries as keys", "[05/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case(seed, square, AttentionMask::none()).check();
  }
}

TEST_CASE("gradients: every size different, and a mask", "[05/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case(seed, different, AttentionMask::none()).check();
    Case(seed, different, AttentionMask::causal(1)).check();
    Case(seed, different, random_mask(seed, different)).check();
  }
}

TEST_CASE("keys that nobody may see are never read", "[05/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed, different, random_mask(seed, different));
    const auto right = c.inputs();
    const auto spoil = [](const Tensor& tensor) {
      Array array = tensor.value().clone();
      for (Index e = 0; e < array.size(); ++e) {
        const bool unseen = e / array.dim(2) % array.dim(1) == 1;
        if (unseen) array[e] = std::numeric_limits<Real>::quiet_NaN();
      }
      return parameter(array);
    };
    c.key = spoil(c.key);
    c.value = spoil(c.value);
    c.yours().backward(c.dy);
    const Tensor tensors[] = {c.query, c.key, c.value};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string text =
          chapter::difference(fmt::format("the elements of the gradient of {}", right[i].name),
                              right[i].gradient, tensors[i].grad(), {axes, {}});
      chapter::require(text.empty(),
                       "key 1 and its value are NaN now, and no query may see them.\nIt looks as "
                       "if a key that is not allowed was read: its weight is 0, and 0 * NaN is "
                       "NaN. Skip it.\n" +
                           text);
    }
  }
}

TEST_CASE("one tensor for query, key and value", "[05/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed, square, AttentionMask::causal());
    const Index width = 6;  // of each third
    const Tensor all = parameter(random_array({2, 4, 3 * width}, c.rng));
    for (chapter::PlainHeads* part : {&c.plain.query, &c.plain.key, &c.plain.value}) {
      part->source = all.value();
    }
    c.plain.key.first = width;
    c.plain.value.first = 2 * width;
    const auto right = c.plain.backward(c.dy);
    Array sum = right.query.clone();
    for (Index e = 0; e < sum.size(); ++e) sum[e] += right.key[e] + right.value[e];
    chapter::require_gradients(
        [&] {
          return attention({all, 0}, {all, width}, {all, 2 * width}, 2, 3, 3,
                           {.mask = c.plain.mask});
        },
        c.dy, {{"the tensor that has all three", all, sum, {}, axes}});
  }
}

TEST_CASE("the forward pass is still right", "[05/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed, different, random_mask(seed, different));
    chapter::require_values([&] { return c.yours(); }, c.plain.y(), {axes, {}});
  }
}
