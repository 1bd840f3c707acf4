// Fused attention against its composed twin, over sources, masks and dropout; NaNs behind masks;
// the texts of errors.
#include "headroom/ops/attention.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/ops/composed.hpp"
#include "headroom/ops/dropout.hpp"
#include "support/catch.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();

Array normal(Rng& rng, const Shape& shape) {
  Array array(shape);
  for (Index i = 0; i < array.size(); ++i) array[i] = rng.normal();
  return array;
}

Bytes random_bytes(Rng& rng, const Shape& shape) {
  Bytes bytes(shape);
  for (Index i = 0; i < bytes.size(); ++i) bytes[i] = rng.uniform() < Real(0.5) ? 1 : 0;
  return bytes;
}

Real worst_difference(const Array& a, const Array& b) {
  REQUIRE(a.shape() == b.shape());
  Real worst = 0, largest = 1;
  for (Index i = 0; i < a.size(); ++i) {
    const Real difference = std::abs(a[i] - b[i]);
    if (std::isnan(difference)) return std::numeric_limits<Real>::infinity();
    worst = std::max(worst, difference);
    largest = std::max(largest, std::abs(b[i]));
  }
  return worst / largest;
}

constexpr Real value_tolerance = is_double ? Real(1e-12) : Real(2e-6);
constexpr Real gradient_tolerance = is_double ? Real(1e-10) : Real(2e-5);

struct Sizes {
  Index batch, heads, queries, keys, head_dim, value_dim;
};

/// Separate sources of query, key and value, with unused columns.
struct Sources {
  Sources(Rng& rng, const Sizes& s)
      : query(parameter(normal(rng, {s.batch, s.queries, s.heads * s.head_dim + 3}))),
        key(parameter(normal(rng, {s.batch, s.keys, s.heads * s.head_dim + 1}))),
        value(parameter(normal(rng, {s.batch, s.keys, s.heads * s.value_dim}))) {}
  Tensor query, key, value;
  HeadColumns q() const { return {query, 2}; }
  HeadColumns k() const { return {key, 1}; }
  HeadColumns v() const { return {value, 0}; }
};

/// y and the gradients of all sources, fused or composed.
std::vector<Array> results(bool fused, const HeadColumns& q, const HeadColumns& k,
                           const HeadColumns& v, const Sizes& s, const AttentionOptions& options,
                           const Array& dy) {
  for (const Tensor& source : {q.source, k.source, v.source}) Tensor(source).zero_grad();
  const Tensor y = fused
                       ? attention(q, k, v, s.heads, s.head_dim, s.value_dim, options)
                       : composed::attention(q, k, v, s.heads, s.head_dim, s.value_dim, options).y;
  y.backward(dy);
  std::vector<Array> all{y.value()};
  for (const Tensor& source : {q.source, k.source, v.source}) all.push_back(source.grad().clone());
  return all;
}

void require_twins_agree(const HeadColumns& q, const HeadColumns& k, const HeadColumns& v,
                         const Sizes& s, const AttentionOptions& options, Rng& rng) {
  const Array dy = normal(rng, {s.batch, s.queries, s.heads * s.value_dim});
  const RandomStep step(1, 2);
  const auto got = results(true, q, k, v, s, options, dy);
  const auto wanted = results(false, q, k, v, s, options, dy);
  CHECK(worst_difference(got[0], wanted[0]) <= value_tolerance);
  for (std::size_t i = 1; i < 4; ++i) {
    INFO("gradient of source " << i);
    CHECK(worst_difference(got[i], wanted[i]) <= gradient_tolerance);
  }
}

const Sizes many_sizes[] = {{2, 3, 5, 7, 4, 2},   {1, 1, 1, 1, 1, 1},   {2, 2, 40, 37, 8, 5},
                            {1, 2, 70, 70, 3, 3}, {0, 2, 3, 4, 2, 2},   {2, 2, 0, 4, 2, 2},
                            {2, 2, 3, 0, 2, 2},   {3, 4, 2, 33, 16, 16}};

std::vector<AttentionMask> masks_for(Rng& rng, const Sizes& s) {
  Ids lengths(Shape{s.batch}), row_lengths(Shape{s.batch, s.queries});
  for (Index i = 0; i < lengths.size(); ++i) {
    lengths[i] = static_cast<std::int32_t>(rng.below(s.keys + 1));
  }
  for (Index i = 0; i < row_lengths.size(); ++i) {
    row_lengths[i] = static_cast<std::int32_t>(rng.below(s.keys + 1));
  }
  const auto bytes = [&](const Shape& shape) {
    return AttentionMask::allow(random_bytes(rng, shape));
  };
  const AttentionMask per_head = bytes({s.batch, s.heads, s.queries, s.keys});
  return {AttentionMask::none(),
          AttentionMask::causal(),
          AttentionMask::causal(-1),
          AttentionMask::causal(2),
          AttentionMask::lengths(lengths),
          AttentionMask::lengths(row_lengths),
          bytes({s.queries, s.keys}),
          bytes({s.batch, s.queries, s.keys}),
          per_head,
          per_head & AttentionMask::causal(1) & AttentionMask::lengths(lengths)};
}

}  // namespace

TEST_CASE("fused attention agrees with composed attention under every kind of mask") {
  Rng rng(1);
  for (const Sizes& s : many_sizes) {
    const Sources from(rng, s);
    for (const AttentionMask& mask : masks_for(rng, s)) {
      AttentionOptions options;
      options.mask = mask;
      require_twins_agree(from.q(), from.k(), from.v(), s, options, rng);
      options.dropout = Real(0.3);
      require_twins_agree(from.q(), from.k(), from.v(), s, options, rng);
    }
  }
}

TEST_CASE("query, key and value may share a source, whole, in part or column for column") {
  Rng rng(2);
  const Sizes s{2, 3, 6, 6, 4, 4};
  const Index width = s.heads * s.head_dim;
  AttentionOptions options;
  options.mask = AttentionMask::causal();
  const Tensor fused = parameter(normal(rng, {2, 6, 3 * width}));
  require_twins_agree({fused, 0}, {fused, width}, {fused, 2 * width}, s, options, rng);
  const Tensor spare = parameter(normal(rng, {2, 6, 3 * width + 5}));
  require_twins_agree({spare, 5}, {spare, 5 + 2 * width}, {spare, 5 + width}, s, options, rng);
  const Tensor same = parameter(normal(rng, {2, 6, width}));
  require_twins_agree({same, 0}, {same, 0}, {same, 0}, s, options, rng);
  const Tensor shifted = parameter(normal(rng, {2, 6, width + 2}));
  require_twins_agree({shifted, 2}, {shifted, 1}, {shifted, 0}, s, options, rng);
  const Tensor memory = parameter(normal(rng, {2, 6, 2 * width}));
  require_twins_agree({same, 0}, {memory, 0}, {memory, width}, s, options, rng);
  const Tensor detached = fused.detach();  // the same buffer, another tensor
  const Array dy = normal(rng, {2, 6, width});
  Tensor(fused).zero_grad();
  attention({fused, 0}, {detached, width}, {detached, 2 * width}, 3, 4, 4, options).backward(dy);
  for (Index row = 0; row < 12; ++row) {
    for (Index c = width; c < 3 * width; ++c) CHECK(fused.grad()[row * 3 * width + c] == 0);
  }
}

namespace {

/// Compares attention on columns of sources of width `all` with attention on three separate
/// tensors. source[r] is the tensor, first[r] the first column of role r.
void check_columns(Index all, const std::array<std::size_t, 3>& source,
                   const std::array<Index, 3>& first, Rng& rng) {
  const Sizes s{2, 2, 3, 3, 2, 2};
  const Index width = s.heads * s.head_dim;
  const Shape shape{s.batch, s.queries, all};
  const std::array<Array, 2> values{normal(rng, shape), normal(rng, shape)};
  const Array dy = normal(rng, shape.with(-1, width));
  AttentionOptions options;
  options.mask = AttentionMask::causal();
  const auto attend = [&](bool fused, const HeadColumns& q, const HeadColumns& k,
                          const HeadColumns& v) {
    return fused ? attention(q, k, v, s.heads, s.head_dim, s.value_dim, options)
                 : composed::attention(q, k, v, s.heads, s.head_dim, s.value_dim, options).y;
  };
  std::array<Tensor, 3> apart;
  for (std::size_t r = 0; r < 3; ++r) {
    Array columns(shape.with(-1, width));
    for (Index i = 0; i < columns.size(); ++i) {
      columns[i] = values[source[r]][i / width * all + first[r] + i % width];
    }
    apart[r] = parameter(columns);
  }
  const Tensor expected = attend(true, {apart[0], 0}, {apart[1], 0}, {apart[2], 0});
  expected.backward(dy);
  std::array<Array, 2> gradients{zeros(shape), zeros(shape)};
  for (std::size_t r = 0; r < 3; ++r) {
    for (Index i = 0; i < apart[r].size(); ++i) {
      gradients[source[r]][i / width * all + first[r] + i % width] += apart[r].grad()[i];
    }
  }
  for (const bool fused : {true, false}) {
    INFO("fused " << fused);
    const std::array<Tensor, 2> x{parameter(values[0]), parameter(values[1])};
    for (const int passes : {1, 2}) {  // the second adds to existing gradients
      const Tensor y = attend(fused, {x[source[0]], first[0]}, {x[source[1]], first[1]},
                              {x[source[2]], first[2]});
      // Fills the pool's free blocks with NaN, so that an element that is not written shows.
      std::vector<Array> dirty;
      for (int i = 0; i < 4; ++i) dirty.emplace_back(shape, nan);
      dirty.clear();
      y.backward(dy);
      Real worst = worst_difference(y.value(), expected.value());
      for (std::size_t i = 0; i < 2; ++i) {
        if (!x[i].grad().defined()) continue;
        Array wanted = gradients[i].clone();
        for (Real& g : wanted.span()) g *= Real(passes);
        worst = std::max(worst, worst_difference(x[i].grad(), wanted));
      }
      REQUIRE(worst <= gradient_tolerance);
    }
  }
}

}  // namespace

TEST_CASE("gradients of overlapping columns of one source add up, wherever the columns are") {
  Rng rng(12);
  constexpr Index width = 4;  // of the columns of each role
  // The tensors that query, key and value are columns of: one for all three, or one for two.
  for (const std::array<std::size_t, 3>& source :
       {std::array<std::size_t, 3>{0, 0, 0}, {0, 1, 1}, {0, 0, 1}, {0, 1, 0}}) {
    for (const Index all : {width, 2 * width, 3 * width}) {
      std::vector<Index> offsets;
      for (const Index offset : {Index{0}, Index{1}, Index{2}, width, width + 3, 2 * width}) {
        if (offset + width <= all) offsets.push_back(offset);
      }
      for (const Index q : offsets) {
        for (const Index k : offsets) {
          for (const Index v : offsets) {
            INFO("sources " << source[0] << source[1] << source[2] << " of " << all
                            << " columns, from " << q << ", " << k << ", " << v << " on");
            check_columns(all, source, {q, k, v}, rng);
          }
        }
      }
    }
  }
}

TEST_CASE("masks and dropout go by original heads") {
  Rng rng(3);
  const Sizes s{2, 2, 4, 5, 3, 3};
  const Sources from(rng, s);
  AttentionOptions options;
  options.original_heads = {1, 3};
  options.original_count = 4;
  options.mask = AttentionMask::allow(random_bytes(rng, {2, 4, 4, 5}));
  options.dropout = Real(0.25);
  options.module = 7;
  require_twins_agree(from.q(), from.k(), from.v(), s, options, rng);
}

TEST_CASE("a NaN where nobody may look reaches nothing, forward and backward") {
  Rng rng(4);
  const Sizes s{2, 2, 35, 36, 3, 3};
  const Sources from(rng, s);
  Bytes bytes = random_bytes(rng, {35, 36});
  for (Index j = 0; j < 36; ++j) bytes[4 * 36 + j] = 0;  // a query without allowed keys
  for (Index i = 0; i < 35; ++i) bytes[i * 36 + 6] = 0;  // a key that no query may attend to
  const Array dy = normal(rng, {2, 35, 6});
  const std::array<AttentionMask, 3> masks{AttentionMask::allow(bytes),
                                           AttentionMask::lengths(Ids(Shape{2}, {6, 5})),
                                           AttentionMask::causal(-30)};
  for (const AttentionMask& mask : masks) {
    AttentionOptions options;
    options.mask = mask;
    const auto clean = results(true, from.q(), from.k(), from.v(), s, options, dy);
    Array query = from.query.value().clone(), key = from.key.value().clone();
    Array value = from.value.value().clone(), bad_dy = dy.clone();
    for (Index b = 0; b < 2; ++b) {
      for (Index j = 0; j < 36; ++j) {
        bool seen = false;
        for (Index i = 0; i < 35; ++i) seen = seen || mask.allows(b, 0, i, j, 36);
        for (Index c = 0; c < 7 && !seen; ++c) key[(b * 36 + j) * 7 + c] = nan;
        for (Index c = 0; c < 6 && !seen; ++c) value[(b * 36 + j) * 6 + c] = nan;
      }
      for (Index i = 0; i < 35; ++i) {
        bool sees = false;
        for (Index j = 0; j < 36; ++j) sees = sees || mask.allows(b, 0, i, j, 36);
        for (Index c = 0; c < 9 && !sees; ++c) query[(b * 35 + i) * 9 + c] = nan;
        for (Index c = 0; c < 6 && !sees; ++c) bad_dy[(b * 35 + i) * 6 + c] = nan;
      }
    }
    const Tensor q = parameter(query), k = parameter(key), v = parameter(value);
    const auto dirty = results(true, {q, 2}, {k, 1}, {v, 0}, s, options, bad_dy);
    for (std::size_t i = 0; i < 4; ++i) {
      INFO("result " << i);
      CHECK(worst_difference(dirty[i], clean[i]) <= value_tolerance);
    }
  }
}

TEST_CASE("a NaN in one value reaches only the queries that may look at it") {
  Rng rng(5);
  const Sizes s{1, 1, 4, 4, 2, 2};
  const Sources from(rng, s);
  const Array value = from.value.value();
  AttentionOptions options;
  options.mask = AttentionMask::causal();
  for (const Index column : {0, 1}) {
    Array one_bad = value.clone();
    one_bad[2 * 2 + column] = nan;  // key 2
    const Array y =
        attention(from.q(), from.k(), {parameter(one_bad), 0}, 1, 2, 2, options).value();
    for (Index i = 0; i < 4; ++i) {
      CHECK(std::isnan(y[2 * i + column]) == (i >= 2));
      CHECK(std::isfinite(y[2 * i + 1 - column]));
    }
  }
}

TEST_CASE("row statistics describe the weights before dropout") {
  Rng rng(6);
  const Sizes s{2, 3, 5, 7, 4, 2};
  const Sources from(rng, s);
  AttentionOptions options;
  options.mask = AttentionMask::causal(-1);
  options.dropout = Real(0.5);
  const RandomStep step(1, 1);
  const AttentionRows rows = attention_rows(from.q(), from.k(), 3, 4, options);
  const Array maps =
      composed::attention(from.q(), from.k(), from.v(), 3, 4, 2, options).maps.value();
  for (Index row = 0; row < 30; ++row) {
    Real entropy = 0, largest = 0;
    for (Index j = 0; j < 7; ++j) {
      const Real p = maps[row * 7 + j];
      if (p > 0) entropy -= p * std::log(p);
      largest = std::max(largest, p);
    }
    CHECK(std::abs(rows.entropy[row] - entropy) < 10 * value_tolerance);
    CHECK(std::abs(rows.maximum[row] - largest) < value_tolerance);
    CHECK(std::isinf(rows.log_sum_exp[row]) == (row % 5 == 0));  // query 0 sees nothing
    CHECK(rows.allowed[row] == row % 5);
  }
}

TEST_CASE("row statistics count the keys that bytes and lengths allow together, head by head") {
  Rng rng(16);
  const Sizes s{2, 2, 3, 20, 4, 2};
  const Sources from(rng, s);
  Bytes bytes = random_bytes(rng, {2, 2, 3, 20});
  for (Index i = 0; i < bytes.size(); ++i) {
    if (i % 60 < 20) bytes[i] = 0;  // query 0 sees nothing
  }
  Ids lengths(Shape{2});
  lengths[0] = 20;
  lengths[1] = 13;
  AttentionOptions options;
  options.mask = AttentionMask::allow(bytes) & AttentionMask::lengths(lengths);
  const AttentionRows rows = attention_rows(from.q(), from.k(), 2, 4, options);
  const Array maps =
      composed::attention(from.q(), from.k(), from.v(), 2, 4, 2, options).maps.value();
  for (Index row = 0; row < 12; ++row) {
    Real entropy = 0, largest = 0;
    std::int32_t allowed = 0;
    for (Index j = 0; j < 20; ++j) {
      const Real p = maps[row * 20 + j];
      if (p > 0) entropy -= p * std::log(p);
      largest = std::max(largest, p);
      if (j < lengths[row / 6]) allowed += bytes[row * 20 + j];
    }
    CHECK(rows.allowed[row] == allowed);
    CHECK(std::abs(rows.entropy[row] - entropy) < 10 * value_tolerance);
    CHECK(std::abs(rows.maximum[row] - largest) < value_tolerance);
    if (row % 3 == 0) CHECK(rows.maximum[row] == 0);
  }
}

TEST_CASE("row statistics of one overwhelming score are those of a one-hot row") {
  const Array q({1, 1, 1}, {1}), k({1, 3, 1}, {-3000, 2000, -9000});
  AttentionOptions options;
  options.scale = 1;
  const AttentionRows rows = attention_rows({Tensor(q), 0}, {Tensor(k), 0}, 1, 1, options);
  CHECK(rows.entropy[0] == 0);
  CHECK(rows.maximum[0] == 1);
  CHECK(rows.log_sum_exp[0] == 2000);
}

TEST_CASE("attention gives the same bits on any number of threads") {
  Rng rng(7);
  const Sizes s{3, 3, 50, 50, 8, 8};
  const Sources from(rng, s);
  const Array dy = normal(rng, {3, 50, 24});
  AttentionOptions options;
  options.mask = AttentionMask::causal();
  options.dropout = Real(0.1);
  const RandomStep step(1, 1);
  const int before = num_threads();
  set_num_threads(1);
  const auto one = results(true, from.q(), from.k(), from.v(), s, options, dy);
  for (const int threads : {2, 3}) {
    set_num_threads(threads);
    const auto many = results(true, from.q(), from.k(), from.v(), s, options, dy);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(std::equal(one[i].data(), one[i].data() + one[i].size(), many[i].data()));
    }
  }
  set_num_threads(before);
}

TEST_CASE("attention says what does not fit") {
  const auto source = [](Index b, Index t, Index c) { return Tensor(zeros({b, t, c})); };
  const Tensor q = source(2, 3, 8), k = source(2, 5, 8);
  AttentionOptions options;
  CHECK_THROWS_WITH(attention({q, 1}, {k, 0}, {k, 0}, 2, 4, 4, options),
                    "attention: query [2, 3, 8] has no room for 2 heads of 4 columns from column 1 "
                    "on; that takes 9");
  CHECK_THROWS_WITH(attention({Tensor(zeros({3, 8})), 0}, {k, 0}, {k, 0}, 2, 4, 4, options),
                    "attention: query [3, 8] must be [B, T, width]");
  CHECK_THROWS_WITH(attention({q, 0}, {k, 0}, {source(2, 4, 8), 0}, 2, 4, 4, options),
                    "attention: query [2, 3, 8], key [2, 5, 8] and value [2, 4, 8] must agree in "
                    "batch size, and key and value in length");
  options.mask = AttentionMask::lengths(Ids(Shape{3}, {1, 1, 1}));
  CHECK_THROWS_WITH(attention({q, 0}, {k, 0}, {k, 0}, 2, 4, 4, options),
                    "attention: mask lengths [3] fit neither [B] = [2] nor [B, Tq] = [2, 3]");
  options.mask = {};
  options.original_heads = {0, 4};
  options.original_count = 4;
  CHECK_THROWS_WITH(attention({q, 0}, {k, 0}, {k, 0}, 2, 4, 4, options),
                    "attention: original head 4 is outside the 4 heads of masks");
  options.original_heads = {0};
  CHECK_THROWS_WITH(attention({q, 0}, {k, 0}, {k, 0}, 2, 4, 4, options),
                    "attention: 1 original heads are named for 2 heads");
  options = {};
  options.dropout = 2;
  CHECK_THROWS_WITH(attention({q, 0}, {k, 0}, {k, 0}, 2, 4, 4, options),
                    "attention: dropout 2 is not a probability; it must be in [0, 1]");
  options.dropout = Real(0.5);
  CHECK_THROWS_AS(attention({q, 0}, {k, 0}, {k, 0}, 2, 4, 4, options), UsageError);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
