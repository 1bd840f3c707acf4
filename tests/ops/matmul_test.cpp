// Matrix products and linear maps: against plain loops, and the texts of errors.
#include "headroom/ops/matmul.hpp"

#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/base/rng.hpp"
#include "ops/values.hpp"
#include "support/catch.hpp"
#include "support/close.hpp"

using namespace headroom;

namespace {

Tensor noise(const Shape& shape, const char* stream) {
  Rng rng(5, stream);
  Array values(shape);
  for (Real& value : values.span()) value = rng.normal();
  return parameter(values);
}

void check_close(const Array& actual, const Array& expected) {
  REQUIRE(actual.shape() == expected.shape());
  Real worst = 0;
  for (Index i = 0; i < actual.size(); ++i) {
    worst = std::max(worst, std::abs(actual[i] - expected[i]));
  }
  CHECK(worst <= Real(is_double ? 1e-13 : 2e-5));
}

/// y = x W^T + b and its gradients by plain loops.
struct PlainLinear {
  Array y, dx, dw, db;
  PlainLinear(const Array& x, const Array& w, const Array& b, const Array& dy)
      : y(x.shape().with(-1, w.dim(0))),
        dx(zeros(x.shape())),
        dw(zeros(w.shape())),
        db(zeros({w.dim(0)})) {
    const Index out = w.dim(0), in = w.dim(1), rows = y.size() / out;
    for (Index r = 0; r < rows; ++r) {
      for (Index o = 0; o < out; ++o) {
        const Real d = dy[r * out + o];
        y[r * out + o] = b[o];
        db[o] += d;
        for (Index i = 0; i < in; ++i) {
          y[r * out + o] += x[r * in + i] * w[o * in + i];
          dx[r * in + i] += d * w[o * in + i];
          dw[o * in + i] += d * x[r * in + i];
        }
      }
    }
  }
};

}  // namespace

TEST_CASE("matmul broadcasts its leading axes, and sums gradients over them") {
  struct Case {
    Shape a, b, y;
  };
  for (const Case& c : {Case{{2, 3}, {3, 4}, {2, 4}},
                        {{5, 2, 3}, {3, 4}, {5, 2, 4}},
                        {{2, 3}, {5, 3, 4}, {5, 2, 4}},
                        {{6, 1, 2, 3}, {5, 3, 4}, {6, 5, 2, 4}},
                        {{5, 2, 3}, {5, 3, 4}, {5, 2, 4}},
                        {{0, 2, 3}, {3, 4}, {0, 2, 4}},
                        {{2, 0}, {0, 3}, {2, 3}},
                        {{2, 3}, {0, 3, 4}, {0, 2, 4}}}) {
    INFO(c.a.text() << " " << c.b.text());
    const Tensor a = noise(c.a, "a"), b = noise(c.b, "b");
    const Tensor y = matmul(a, b);
    REQUIRE(y.shape() == c.y);
    const Array dy = noise(c.y, "dy").value();
    Array expected = zeros(c.y), da = zeros(c.a), db = zeros(c.b);
    const Index m = c.y[-2], n = c.y[-1], k = c.a[-1];
    const Index batches = m * n == 0 ? 0 : c.y.size() / (m * n);
    for (Index batch = 0; batch < batches; ++batch) {
      // The cases repeat a matrix along all inner or all outer leading axes only.
      const Index matrices_a = c.a.size() / std::max<Index>(1, m * k);
      const Index at_a = c.a.rank() == 4 ? batch / 5 : matrices_a == 1 ? 0 : batch;
      const Index at_b = c.b.rank() == 2 ? 0 : batch % c.b[0];
      for (Index i = 0; i < m; ++i) {
        for (Index j = 0; j < n; ++j) {
          for (Index l = 0; l < k; ++l) {
            const Index in_a = (at_a * m + i) * k + l, in_b = (at_b * k + l) * n + j;
            const Index in_y = (batch * m + i) * n + j;
            expected[in_y] += a.value()[in_a] * b.value()[in_b];
            da[in_a] += dy[in_y] * b.value()[in_b];
            db[in_b] += dy[in_y] * a.value()[in_a];
          }
        }
      }
    }
    check_close(y.value(), expected);
    y.backward(dy, true);
    check_close(a.grad(), da);
    check_close(b.grad(), db);
    y.backward(dy);  // a second pass adds
    for (Array* gradient : {&da, &db}) {
      for (Real& g : gradient->span()) g *= 2;
    }
    check_close(a.grad(), da);
    check_close(b.grad(), db);
  }
}

TEST_CASE("linear is x W^T + b over any number of leading axes") {
  for (const Shape& shape : {Shape{7}, Shape{4, 7}, Shape{2, 3, 7}, Shape{0, 7}, Shape{1, 7}}) {
    INFO(shape.text());
    const Tensor x = noise(shape, "x"), w = noise({5, 7}, "w"), b = noise({5}, "b");
    const Tensor y = linear(x, w, b);
    const Array dy = noise(y.shape(), "dy").value();
    const PlainLinear plain(x.value(), w.value(), b.value(), dy);
    check_close(y.value(), plain.y);
    y.backward(dy);
    check_close(x.grad(), plain.dx);
    check_close(w.grad(), plain.dw);
    check_close(b.grad(), plain.db);
    check_close(linear(x, w).value(), linear(x, w, constant(zeros({5}))).value());
  }
}

TEST_CASE("linear of no features gives its bias, and linear to no features nothing") {
  const Tensor y = linear(Tensor(zeros({2, 0})), Tensor(zeros({3, 0})), Tensor(ones({3})));
  CHECK(values(y.value()) == Values{1, 1, 1, 1, 1, 1});
  CHECK(linear(Tensor(zeros({2, 3})), Tensor(zeros({0, 3}))).shape() == Shape{2, 0});
}

TEST_CASE("linear maps side by side fill their own columns") {
  const Tensor x = noise({2, 3, 7}, "x");
  const std::vector<Tensor> weights{noise({2, 7}, "u"), noise({0, 7}, "v"), noise({4, 7}, "w")};
  const std::vector<Tensor> biases{noise({2}, "b"), Tensor(), noise({4}, "c")};
  const Tensor y = linear_side_by_side(x, weights, biases);
  REQUIRE(y.shape() == Shape{2, 3, 6});
  Array w({6, 7}), b({6});
  std::copy_n(weights[0].value().data(), 14, w.data());
  std::copy_n(weights[2].value().data(), 28, w.data() + 14);
  std::copy_n(biases[0].value().data(), 2, b.data());
  std::copy_n(biases[2].value().data(), 4, b.data() + 2);
  const Array dy = noise(y.shape(), "dy").value();
  const PlainLinear plain(x.value(), w, b, dy);
  check_close(y.value(), plain.y);
  y.backward(dy);
  check_close(x.grad(), plain.dx);
  check_close(weights[0].grad(), Array({2, 7}, plain.dw.span().first(14)));
  check_close(weights[2].grad(), Array({4, 7}, plain.dw.span().last(28)));
  check_close(biases[0].grad(), Array({2}, plain.db.span().first(2)));
  check_close(biases[2].grad(), Array({4}, plain.db.span().last(4)));
  CHECK(linear_side_by_side(x, weights, {}).shape() == Shape{2, 3, 6});
}

TEST_CASE("a weight used twice side by side gets both gradients") {
  const Tensor x = noise({3, 4}, "x"), w = noise({2, 4}, "w");
  const Tensor y = linear_side_by_side(x, {w, w}, {});
  Array dy = noise(y.shape(), "dy").value();
  y.backward(dy);
  Array folded({3, 2});
  for (Index r = 0; r < 3; ++r) {
    for (Index o = 0; o < 2; ++o) folded[r * 2 + o] = dy[r * 4 + o] + dy[r * 4 + 2 + o];
  }
  const PlainLinear plain(x.value(), w.value(), zeros({2}), folded);
  check_close(w.grad(), plain.dw);
  check_close(x.grad(), plain.dx);
}

TEST_CASE("an input that is its own weight gets both gradients") {
  // Large enough that two threads could conflict.
  const Tensor x = noise({900, 32}, "x"), y = linear(x, x);
  Array dy = noise(y.shape(), "dy").value();
  for (Real& value : dy.span()) value /= 30;  // sums of 900 elements of size 1
  y.backward(dy);
  const PlainLinear plain(x.value(), x.value(), zeros({900}), dy);
  Array both = plain.dx.clone();
  for (Index i = 0; i < both.size(); ++i) both[i] += plain.dw[i];
  check_close(x.grad(), both);
}

TEST_CASE("a large input that is its own weight gets both gradients on two threads") {
  // Both products run in slabs on two threads, which must not add to the same sum at the same time.
  constexpr Index n = 224;
  const Tensor x = noise({n, n}, "x");
  const Array dy = noise({n, n}, "dy").value();
  const PlainLinear plain(x.value(), x.value(), zeros({n}), dy);
  Array expected = plain.dx.clone();
  for (Index i = 0; i < expected.size(); ++i) expected[i] += plain.dw[i];
  const int before = num_threads();
  set_num_threads(2);
  for (int repeat = 0; repeat < 5; ++repeat) {
    Tensor(x).zero_grad();
    const Tensor y = linear(x, x);
    y.backward(dy);
    CHECK_THAT(y.value(), test::close_at_scale(plain.y, test::tolerance(1e-13, 1e-5)));
    CHECK_THAT(x.grad(), test::close_at_scale(expected, test::tolerance(1e-13, 1e-5)));
  }
  set_num_threads(before);
}

TEST_CASE("products and linear maps name the shapes that do not fit") {
  const Tensor x(zeros({2, 3})), w(zeros({128, 64}));
  CHECK_THROWS_WITH(linear(x, w),
                    "linear: x [2, 3] ends in 3 features but weight [128, 64] takes 64");
  CHECK_THROWS_WITH(linear(x, Tensor(zeros({3}))), "linear: weight [3] is not a matrix [out, in]");
  CHECK_THROWS_WITH(linear(Tensor(Real(1)), w),
                    "linear: x is a single number; it needs the shape [..., 64]");
  CHECK_THROWS_WITH(linear(Tensor(zeros({2, 64})), w, Tensor(zeros({64}))),
                    "linear: bias [64] does not fit weight [128, 64], which needs [128]");
  CHECK_THROWS_WITH(linear_side_by_side(x, {}, {}),
                    "linear_side_by_side: no weights; at least 1 is needed");
  CHECK_THROWS_WITH(linear_side_by_side(x, {Tensor(zeros({2, 3}))}, {Tensor(), Tensor()}),
                    "linear_side_by_side: 2 biases for 1 weights; give none or one for each");
  CHECK_THROWS_WITH(matmul(x, w), "matmul: a [2, 3] has 3 columns but b [128, 64] has 128 rows");
  CHECK_THROWS_WITH(matmul(Tensor(zeros({3})), x),
                    "matmul: shapes [3] and [2, 3]; both need at least two axes");
  CHECK_THROWS_AS(matmul(Tensor(zeros({2, 2, 3})), Tensor(zeros({3, 3, 4}))), ShapeError);
}
