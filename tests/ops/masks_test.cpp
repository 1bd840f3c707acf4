// Every possible mask: all subsets of the T x T pairs for T = 3 and T = 4, each against plain
// loops. Guarantees of masks: nothing leaks, and keys that no query may attend to are not read.
#include <cmath>
#include <limits>

#include "headroom/autograd/tape.hpp"
#include "headroom/ops/attention.hpp"
#include "headroom/ops/composed.hpp"
#include "ops/table/plain_attention.hpp"
#include "support/close.hpp"
#include "support/random.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

constexpr Index heads = 2, head_dim = 2, value_dim = 3;

/// A query, a key and a value, repeated for each example of a batch.
struct Example {
  Array query, key, value;
};

Example repeated_example(Index batch, Index length, Rng& rng) {
  const auto repeat = [&](Index width) {
    const Array one = normal({1, length, width}, rng);
    Array all({batch, length, width});
    for (Index e = 0; e < all.size(); ++e) all[e] = one[e % one.size()];
    return all;
  };
  return {repeat(heads * head_dim), repeat(heads * head_dim), repeat(heads * value_dim)};
}

/// Checks the masks numbered [first, first + batch): bit i * T + j of the number allows (i, j).
void check_masks(const Example& x, Index length, Index first) {
  const Index batch = x.query.dim(0), pairs = length * length;
  Bytes bytes({batch, length, length});
  for (Index e = 0; e < bytes.size(); ++e) {
    bytes[e] = static_cast<std::uint8_t>((first + e / pairs) >> (e % pairs) & 1);
  }
  const PlainAttention plain{
      heads, head_dim, value_dim, 1 / std::sqrt(static_cast<long double>(head_dim)),
      [&](Index b, Index, Index i, Index j) { return bytes[(b * length + i) * length + j] != 0; }};
  const Tensor query = parameter(x.query), key = parameter(x.key), value = parameter(x.value);
  AttentionOptions options;
  options.mask = AttentionMask::allow(bytes);
  const Tensor y = attention({query}, {key}, {value}, heads, head_dim, value_dim, options);
  Rng rng(static_cast<std::uint64_t>(first), "masks");
  const Array cotangent = normal(y.shape(), rng);
  y.backward(cotangent);
  const auto expected = plain.backward(x.query, x.key, x.value, cotangent);
  const Real allowed = tolerance(1e-13, 2e-6);
  INFO("masks from " << first << " on");
  CHECK_THAT(y.value(), CloseTo(plain.forward(x.query, x.key, x.value), allowed, allowed));
  CHECK_THAT(query.grad(), CloseTo(expected.query, allowed, allowed));
  CHECK_THAT(key.grad(), CloseTo(expected.key, allowed, allowed));
  CHECK_THAT(value.grad(), CloseTo(expected.value, allowed, allowed));
}

}  // namespace

TEST_CASE("all 512 masks of 3 x 3: attention and its gradients are those of plain loops") {
  Rng rng(1, "masks of 3");
  for (Index first = 0; first < 512; first += 64) {
    check_masks(repeated_example(64, 3, rng), 3, first);
  }
}

TEST_CASE("all 65,536 masks of 4 x 4: attention and its gradients are those of plain loops") {
  Rng rng(1, "masks of 4");
  for (Index first = 0; first < 65'536; first += 1024) {
    check_masks(repeated_example(1024, 4, rng), 4, first);
  }
}

TEST_CASE("bytes of each example and head go to that example and head") {
  const Index batch = 2, all_heads = 3, queries = 4, keys = 5;
  Rng rng(8, "bytes");
  const Bytes bytes = random_bytes({batch, all_heads, queries, keys}, rng, Real(0.5));
  for (const std::vector<Index>& alive : {std::vector<Index>{0, 1, 2}, std::vector<Index>{0, 2}}) {
    const auto count = Index(alive.size());
    INFO(count << " heads");
    const PlainAttention plain{
        count, head_dim, value_dim, 1 / std::sqrt(static_cast<long double>(head_dim)),
        [&](Index b, Index head, Index i, Index j) {
          const Index original = alive[static_cast<std::size_t>(head)];
          return bytes[((b * all_heads + original) * queries + i) * keys + j] != 0;
        }};
    const Tensor query = parameter(normal({batch, queries, count * head_dim}, rng));
    const Tensor key = parameter(normal({batch, keys, count * head_dim}, rng));
    const Tensor value = parameter(normal({batch, keys, count * value_dim}, rng));
    AttentionOptions options;
    options.mask = AttentionMask::allow(bytes);
    options.original_heads = alive;
    options.original_count = all_heads;
    const Real close = tolerance(1e-13, 2e-6);
    for (const bool fused : {true, false}) {
      INFO("fused " << fused);
      for (const Tensor& source : {query, key, value}) Tensor(source).zero_grad();
      const Tensor y =
          fused
              ? attention({query}, {key}, {value}, count, head_dim, value_dim, options)
              : composed::attention({query}, {key}, {value}, count, head_dim, value_dim, options).y;
      const Array cotangent = normal(y.shape(), rng);
      y.backward(cotangent);
      const auto expected = plain.backward(query.value(), key.value(), value.value(), cotangent);
      CHECK_THAT(y.value(),
                 CloseTo(plain.forward(query.value(), key.value(), value.value()), close, close));
      CHECK_THAT(query.grad(), CloseTo(expected.query, close, close));
      CHECK_THAT(key.grad(), CloseTo(expected.key, close, close));
      CHECK_THAT(value.grad(), CloseTo(expected.value, close, close));
    }
  }
}

namespace {

Array attend(const Array& x, const AttentionMask& mask) {
  const Index width = x.dim(2) / 3;
  AttentionOptions options;
  options.mask = mask;
  const Tensor source(x);
  return attention({source, 0}, {source, width}, {source, 2 * width}, 4, width / 4, width / 4,
                   options)
      .value();
}

/// The rows of positions [begin, end) of a [B, T, C] array.
Array positions(const Array& x, Index begin, Index end) {
  Array result({x.dim(0), end - begin, x.dim(2)});
  for (Index b = 0; b < x.dim(0); ++b) {
    std::copy_n(x.data() + (b * x.dim(1) + begin) * x.dim(2), (end - begin) * x.dim(2),
                result.data() + b * (end - begin) * x.dim(2));
  }
  return result;
}

}  // namespace

TEST_CASE("two causal masks together allow what both allow") {
  Rng rng(3, "two causal masks");
  const Array x = normal({1, 6, 3 * 16}, rng);
  const AttentionMask more = AttentionMask::causal(2), fewer = AttentionMask::causal(0);
  for (const AttentionMask& both : {more & fewer, fewer & more}) {
    CHECK_THAT(attend(x, both), SameBits(attend(x, fewer)));
    CHECK_THAT(attend(x, both), !SameBits(attend(x, more)));
  }
}

TEST_CASE("causal attention does not leak: a changed token moves no earlier output, not by a bit") {
  Rng rng(2, "leak");
  for (const Index length : {2, 5, 33, 70}) {
    const Array x = normal({2, length, 3 * 16}, rng);
    for (const Index changed : {length - 1, length / 2}) {
      Array other = x.clone();
      for (Index b = 0; b < 2; ++b) {
        for (Index c = 0; c < 48; ++c) other[(b * length + changed) * 48 + c] = rng.normal();
      }
      const Array before = attend(x, AttentionMask::causal());
      const Array after = attend(other, AttentionMask::causal());
      CHECK_THAT(positions(after, 0, changed), SameBits(positions(before, 0, changed)));
      CHECK_THAT(positions(after, changed, length), !SameBits(positions(before, changed, length)));
      // Without the mask the change does move them, so the test can fail.
      CHECK_THAT(positions(attend(other, {}), 0, changed),
                 !SameBits(positions(attend(x, {}), 0, changed)));
    }
  }
}

TEST_CASE("keys that no query may attend to are never read: a NaN there reaches nothing") {
  Rng rng(3, "nan");
  const Index length = 6, keys = 4, width = 8;
  const Array query = normal({1, length, width}, rng);
  Array key = normal({1, length, width}, rng), value = normal({1, length, width}, rng);
  for (Index e = keys * width; e < length * width; ++e) {
    key[e] = value[e] = std::numeric_limits<Real>::quiet_NaN();
  }
  Bytes bytes({length, length}, std::uint8_t{1});
  for (Index e = 0; e < bytes.size(); ++e) bytes[e] = e % length < keys ? 1 : 0;
  for (const AttentionMask& mask :
       {AttentionMask::lengths(Ids(Shape{1}, {4})), AttentionMask::allow(bytes),
        AttentionMask::lengths(Ids(Shape{1}, {4})) & AttentionMask::causal()}) {
    const Tensor q = parameter(query), k = parameter(key), v = parameter(value);
    AttentionOptions options;
    options.mask = mask;
    const Tensor y = attention({q}, {k}, {v}, 2, 4, 4, options);
    const AttentionRows rows = attention_rows({q}, {k}, 2, 4, options);
    CHECK(all_finite(y.value()));
    CHECK(all_finite(rows.entropy));
    y.backward(normal(y.shape(), rng));
    CHECK(all_finite(q.grad()));
    CHECK(all_finite(k.grad()));
    CHECK(all_finite(v.grad()));
    CHECK_THAT(positions(v.grad(), keys, length), SameBits(zeros({1, length - keys, width})));
  }
}

TEST_CASE("a NaN in a key that some queries may not attend to reaches only the others") {
  Rng rng(4, "nan");
  const Index length = 5, width = 4, poisoned = 3;
  const Array query = normal({1, length, width}, rng);
  Array key = normal({1, length, width}, rng), value = normal({1, length, width}, rng);
  for (Index c = 0; c < width; ++c) {
    key[poisoned * width + c] = value[poisoned * width + c] = std::numeric_limits<Real>::infinity();
  }
  AttentionOptions options;
  options.mask = AttentionMask::causal();
  const Tensor q = parameter(query), k = parameter(key), v = parameter(value);
  const Tensor y = attention({q}, {k}, {v}, 2, 2, 2, options);
  CHECK(all_finite(positions(y.value(), 0, poisoned)));
  CHECK_FALSE(all_finite(positions(y.value(), poisoned, length)));
  Array cotangent = zeros(y.shape());
  for (Index e = 0; e < poisoned * width; ++e) cotangent[e] = rng.normal();
  CHECK_NOTHROW(y.backward(cotangent));
  CHECK(all_finite(positions(q.grad(), 0, poisoned)));
}
