// Folds over axes and broadcasting loops against plain loops.
#include "kernels/reduce.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "headroom/base/parallel.hpp"
#include "headroom/base/rng.hpp"
#include "kernels/broadcast.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

using namespace headroom;

namespace {

double number(Real x) { return double(x); }

}  // namespace

TEST_CASE("folding the middle axis equals a plain loop, in one piece and in many") {
  struct Sizes {
    Index outer, n, inner;
  };
  for (const Sizes& s : {Sizes{1, 1, 1},
                         {3, 5, 7},
                         {1, 200'001, 1},
                         {2, 70'000, 3},
                         {1, 900, 300},
                         {40, 100, 1},
                         {1, 3, 9000},
                         {0, 4, 2},
                         {2, 4, 0},
                         {2, 0, 3}}) {
    INFO("outer " << s.outer << " n " << s.n << " inner " << s.inner);
    const Array x = test::noise({s.outer, s.n, s.inner}, "reduce");
    for (const Fold fold : {Fold::sum, Fold::max, Fold::min}) {
      if (s.n == 0 && fold != Fold::sum) continue;
      Array y({s.outer, s.inner}, Real(77));
      fold_middle(fold, x.data(), s.outer, s.n, s.inner, y.data());
      double worst = 0;
      for (Index o = 0; o < s.outer; ++o) {
        for (Index i = 0; i < s.inner; ++i) {
          double expected = s.n == 0 || fold == Fold::sum ? 0 : number(x[o * s.n * s.inner + i]);
          for (Index j = 0; j < s.n; ++j) {
            const double v = number(x[(o * s.n + j) * s.inner + i]);
            expected = fold == Fold::sum   ? expected + v
                       : fold == Fold::max ? std::max(expected, v)
                                           : std::min(expected, v);
          }
          worst = std::max(worst, std::abs(number(y[o * s.inner + i]) - expected));
        }
      }
      // Partial sums grow like sqrt(n), and so does the sum of their n rounding errors.
      const double rounding =
          number(std::numeric_limits<Real>::epsilon()) * double(std::max<Index>(10, s.n));
      CHECK(worst <= (fold == Fold::sum ? rounding : 0.0));
    }
  }
}

TEST_CASE("a fold gives the same bits on 1, 2 and 3 threads") {
  const int before = num_threads();
  for (const Shape& shape : {Shape{1, 300'000, 1}, Shape{1, 5000, 100}, Shape{3, 20, 50'000}}) {
    const Array x = test::noise(shape, "reduce");
    std::vector<std::vector<Real>> results;
    for (const int threads : {1, 2, 3}) {
      set_num_threads(threads);
      Array y({shape[0], shape[2]});
      fold_middle(Fold::sum, x.data(), shape[0], shape[1], shape[2], y.data());
      results.emplace_back(y.data(), y.data() + y.size());
    }
    CHECK(results[0] == results[1]);
    CHECK(results[0] == results[2]);
  }
  set_num_threads(before);
}

TEST_CASE("max and min hand a NaN on, wherever it stands") {
  for (const Index n : {Index{5}, Index{40}}) {
    for (Index bad = 0; bad < n; ++bad) {
      Array x = test::noise({n}, "reduce");
      x[bad] = std::numeric_limits<Real>::quiet_NaN();
      for (const Fold fold : {Fold::max, Fold::min}) {
        Real y = 0;
        fold_middle(fold, x.data(), 1, n, 1, &y);
        CHECK(std::isnan(y));
      }
    }
  }
}

TEST_CASE("flagged axes are folded to size 1") {
  const Array x({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Array ends = fold_axes(Fold::sum, x, {true, false, true});
  CHECK(ends.shape() == Shape{1, 3, 1});
  CHECK(std::vector<Real>(ends.data(), ends.data() + 3) == std::vector<Real>{18, 26, 34});
  CHECK(fold_axes(Fold::max, x, {true, true, true})[0] == 12);
  CHECK(fold_axes(Fold::sum, x, {}).same_buffer(x));
}

TEST_CASE("sum_to undoes broadcast_to up to the number of copies") {
  const Shape whole{2, 3, 4, 5};
  for (const Shape& shape :
       {Shape{}, Shape{5}, Shape{1}, Shape{4, 1}, Shape{3, 1, 5}, Shape{2, 1, 4, 1}, whole}) {
    INFO(shape.text());
    const Array x = test::noise(shape, "reduce");
    const Array back = sum_to(broadcast_to(x, whole), shape);
    REQUIRE(back.shape() == shape);
    const Real copies = Real(whole.size() / shape.size());
    for (Index i = 0; i < x.size(); ++i) {
      CHECK(std::abs(back[i] - copies * x[i]) <= Real(1e-5) * std::abs(x[i]) * copies);
    }
  }
  CHECK(sum_to(Array(Shape{0, 3}), Shape{1, 3})[2] == 0);
}

TEST_CASE("every pattern of broadcasting reads the right elements") {
  const std::vector<Shape> shapes{{},        {4},       {3, 1},       {3, 4},      {2, 1, 1},
                                  {2, 3, 1}, {2, 1, 4}, {2, 3, 4},    {1, 3, 1},   {1, 1, 2, 3, 4},
                                  {1},       {1, 1},    {5, 1, 1, 4}, {5, 2, 3, 4}};
  for (const Shape& a_shape : shapes) {
    for (const Shape& b_shape : shapes) {
      const Shape shape = broadcast("test", a_shape, b_shape);
      INFO(a_shape.text() << " and " << b_shape.text());
      const Array a = test::noise(a_shape, "reduce"), b = test::noise(b_shape, "reduce", 1);
      const Array y = broadcast_map(
          shape, [](Real u, Real v) { return u - 2 * v; }, a, b);
      Index wrong = 0;
      for (Index at = 0; at < y.size(); ++at) {
        const auto element = [&](const Array& x) {  // by the definition, axis after axis
          Index rest = at, stride = 1, offset = 0;
          for (int i = 1; i <= shape.rank(); ++i) {
            const Index here = rest % shape[-i];
            rest /= shape[-i];
            if (i > x.rank()) continue;
            offset += (x.dim(-i) == 1 ? 0 : here) * stride;
            stride *= x.dim(-i);
          }
          return x[offset];
        };
        wrong += y[at] == element(a) - 2 * element(b) ? 0 : 1;
      }
      CHECK(wrong == 0);
    }
  }
}
