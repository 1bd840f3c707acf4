// The score bias of fused attention: the paths through the kernels against the composed twin, rows
// without allowed keys, thread counts, removed heads.
#include <algorithm>
#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/ops/attention.hpp"
#include "headroom/ops/composed.hpp"
#include "support/catch.hpp"
#include "support/close.hpp"
#include "support/random.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

using test::close_at_scale;
using test::normal;
using test::SameBits;

constexpr Real near = is_double ? Real(1e-10) : Real(2e-5);

/// One call with 4 original heads, of which 1 and 3 are live.
struct BiasedCall {
  BiasedCall(Index examples, Index times, Index key_count, Index dim, std::uint64_t seed)
      : batch(examples), queries(times), keys(key_count), width(dim), rng(seed) {
    query = parameter(normal({batch, queries, 2 * width}, rng));
    key = parameter(normal({batch, keys, 2 * width}, rng));
    value = parameter(normal({batch, keys, 2 * width}, rng));
    dy = normal({batch, queries, 2 * width}, rng);
    options.original_heads = {1, 3};
    options.original_count = 4;
  }
  void set_bias(const Shape& shape) { options.score_bias = parameter(normal(shape, rng)); }

  /// y, then the gradients of query, key, value and bias.
  std::vector<Array> results(bool fused) {
    for (Tensor* const t : {&query, &key, &value, &options.score_bias}) t->zero_grad();
    const Tensor y =
        fused ? attention({query, 0}, {key, 0}, {value, 0}, 2, width, width, options)
              : composed::attention({query, 0}, {key, 0}, {value, 0}, 2, width, width, options).y;
    y.backward(dy);
    std::vector<Array> all{y.value()};
    for (const Tensor* const t : {&query, &key, &value, &options.score_bias}) {
      all.push_back(t->grad().clone());
    }
    return all;
  }
  std::vector<Shape> bias_shapes() const {
    return {{4}, {4, queries, keys}, {batch, 4, queries, keys}};
  }

  Index batch, queries, keys, width;
  Rng rng;
  Tensor query, key, value;
  Array dy;
  AttentionOptions options;
};

}  // namespace

TEST_CASE("a score bias agrees with the composed twin, for one query and for several blocks") {
  const Index lanes = 64 / Index(sizeof(Real));
  for (const Index queries : {Index{1}, Index{3}, Index{60}}) {
    BiasedCall call(3, queries, 21, lanes, 1);
    for (const Shape& shape : call.bias_shapes()) {
      INFO(queries << " queries, bias " << shape.text());
      call.set_bias(shape);
      call.options.first_query = 4;
      call.options.mask = AttentionMask::lengths(Ids({3}, {21, 0, 7}));
      const auto got = call.results(true), wanted = call.results(false);
      for (std::size_t i = 0; i < got.size(); ++i) {
        // A slope's gradient is a sum of distances times gradients of scores, which cancel.
        const bool of_slopes = i == 4 && shape.rank() == 1;
        const Real scale = of_slopes ? Real(queries + call.options.first_query) : 1;
        CHECK_THAT(got[i], close_at_scale(wanted[i], near, scale));
      }
    }
  }
}

TEST_CASE("slopes are ALiBi: -slope |i + first_query - j|, of original heads") {
  BiasedCall call(1, 2, 3, 1, 2);
  call.options.score_bias = parameter(Array({4}, {100, Real(0.5), 100, 2}));
  call.options.first_query = 1;
  call.options.scale = Real(1e-30);  // the bias alone
  const composed::Attention seen =
      composed::attention({call.query, 0}, {call.key, 0}, {call.value, 0}, 2, 1, 1, call.options);
  for (Index h = 0; h < 2; ++h) {
    for (Index i = 0; i < 2; ++i) {
      double sum = 0;
      const auto power = [&](Index j) {
        return std::exp(-(h == 0 ? 0.5 : 2.0) * std::abs(double(i + 1 - j)));
      };
      for (Index j = 0; j < 3; ++j) sum += power(j);
      for (Index j = 0; j < 3; ++j) {
        const auto weight = double(seen.maps.value()[(h * 2 + i) * 3 + j]);
        CHECK(std::abs(weight - power(j) / sum) < 1e-6);
      }
    }
  }
}

TEST_CASE("rows with nothing allowed give 0 and no gradient to their bias; removed heads none") {
  BiasedCall call(2, 3, 3, 2, 3);
  call.set_bias({2, 4, 3, 3});
  Bytes bytes({3, 3}, std::uint8_t{1});
  for (Index j = 0; j < 3; ++j) bytes[3 + j] = 0;  // query 1 sees nothing
  bytes[2] = 0;
  call.options.mask = AttentionMask::allow(bytes);
  const auto got = call.results(true);
  const Array& dbias = got[4];
  for (Index e = 0; e < dbias.size(); ++e) {
    const Index head = e / 9 % 4, i = e / 3 % 3, j = e % 3;
    const bool none = head % 2 == 0 || bytes[i * 3 + j] == 0;
    CHECK((dbias[e] == 0) == none);
  }
  for (Index c = 0; c < 4; ++c) CHECK(got[0][4 + c] == 0);
}

TEST_CASE("a biased attention gives the same bits on any number of threads") {
  BiasedCall call(5, 50, 50, 8, 4);
  call.options.mask = AttentionMask::causal();
  const int before = num_threads();
  for (const Shape& shape : call.bias_shapes()) {
    call.set_bias(shape);
    set_num_threads(1);
    const auto one = call.results(true);
    for (const int threads : {2, 3}) {
      set_num_threads(threads);
      const auto many = call.results(true);
      for (std::size_t i = 0; i < one.size(); ++i) CHECK_THAT(many[i], SameBits(one[i]));
    }
  }
  set_num_threads(before);
}

TEST_CASE("row statistics are those of the biased weights") {
  BiasedCall call(2, 5, 6, 3, 5);
  call.set_bias({4, 5, 6});
  const AttentionRows rows = attention_rows({call.query, 0}, {call.key, 0}, 2, 3, call.options);
  const Array maps =
      composed::attention({call.query, 0}, {call.key, 0}, {call.value, 0}, 2, 3, 3, call.options)
          .maps.value();
  for (Index row = 0; row < rows.maximum.size(); ++row) {
    const Real* const weights = maps.data() + row * 6;
    CHECK(std::abs(rows.maximum[row] - *std::max_element(weights, weights + 6)) < near);
  }
}

TEST_CASE("a score bias of another shape is refused with what fits") {
  BiasedCall call(2, 3, 5, 2, 6);
  for (const Shape& shape : {Shape{2}, Shape{4, 5, 3}, Shape{1, 4, 3, 5}, Shape{3, 5}}) {
    call.set_bias(shape);
    CHECK_THROWS_WITH(
        attention({call.query, 0}, {call.key, 0}, {call.value, 0}, 2, 2, 2, call.options),
        "attention: score_bias " + shape.text() +
            " must be [H], [H, Tq, Tk] or [B, H, Tq, Tk] with B = 2, H = 4, Tq = 3, Tk = 5");
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
