// Checks the gradient of attention against plain loops in double.
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
  std::vector<chapter::Input> inputs() const {
    const PlainAttention::Gradients right = plain.backward(dy);
    return {{"query", query, right.query, {}, axes},
            {"key", key, right.key, {}, axes},
            {"value", value, right.value, {}, axes}};
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
