// The matrix product against plain loops and against its xtensor reference.
#include "kernels/gemm.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "headroom/base/extremes.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/base/rng.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {

std::vector<Real> noise(Index n, const char* stream) {
  Rng rng(7, stream);
  std::vector<Real> values(static_cast<std::size_t>(n));
  for (Real& value : values) value = rng.normal();
  return values;
}

struct Sizes {
  Index m, n, k;
};

/// Maximum difference between gemm and three plain loops, on matrices embedded in wider ones.
double worst_error(const Sizes& s, bool transpose_a, bool transpose_b, Real alpha, Real beta) {
  const Index pad = 3;
  const Index a_stride = (transpose_a ? s.m : s.k) + pad,
              b_stride = (transpose_b ? s.k : s.n) + pad;
  const Index c_stride = s.n + pad;
  const std::vector<Real> a = noise((transpose_a ? s.k : s.m) * a_stride, "a");
  const std::vector<Real> b = noise((transpose_b ? s.n : s.k) * b_stride, "b");
  const std::vector<Real> before = noise(s.m * c_stride, "c");
  std::vector<Real> c = before;
  gemm(s.m, s.n, s.k, alpha, {a.data(), a_stride, transpose_a}, {b.data(), b_stride, transpose_b},
       beta, c.data(), c_stride);
  double worst = 0;
  for (Index i = 0; i < s.m; ++i) {
    for (Index j = 0; j < c_stride; ++j) {
      const auto at = static_cast<std::size_t>(i * c_stride + j);
      double expected = double(before[at]);
      if (j < s.n) {
        expected *= double(beta);
        for (Index l = 0; l < s.k; ++l) {
          const Index a_at = transpose_a ? l * a_stride + i : i * a_stride + l;
          const Index b_at = transpose_b ? j * b_stride + l : l * b_stride + j;
          expected += double(alpha) * double(a[static_cast<std::size_t>(a_at)]) *
                      double(b[static_cast<std::size_t>(b_at)]);
        }
      }
      worst = larger(worst, std::abs(double(c[at]) - expected));
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("gemm equals three plain loops for every transposition, stride and size") {
  const double tolerance = is_double ? 1e-12 : 2e-4;
  for (const Sizes& s : {Sizes{1, 1, 1},
                         {5, 3, 7},
                         {0, 4, 2},
                         {4, 0, 2},
                         {4, 3, 0},
                         {130, 70, 300},
                         {33, 400, 150},
                         {500, 40, 90},
                         // few rows
                         {1, 100, 37},
                         {2, 16, 16},
                         {3, 50, 64},
                         {7, 33, 130},
                         {5, 40, 129},
                         {16, 48, 128},
                         {23, 170, 65}}) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        INFO("m " << s.m << " n " << s.n << " k " << s.k << " " << transpose_a << transpose_b);
        CHECK(worst_error(s, transpose_a, transpose_b, Real(1), Real(0)) <= tolerance);
        CHECK(worst_error(s, transpose_a, transpose_b, Real(-0.5), Real(2)) <= tolerance);
      }
    }
  }
}

TEST_CASE("gemm with beta = 0 does not read the old result") {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const std::vector<Real> a{1, 2}, b{3, 4};
  for (const Index k : {Index{0}, Index{2}}) {
    Real c = nan;
    gemm(1, 1, k, Real(1), {a.data(), 2}, {b.data(), 1}, Real(0), &c, 1);
    CHECK(c == Real(k == 0 ? 0 : 11));
  }
}

TEST_CASE("gemm gives the same bits on 1, 2 and 3 threads") {
  const int before = num_threads();
  for (const Sizes& s : {Sizes{700, 96, 200}, {64, 900, 333}, {13, 333, 222}}) {
    const std::vector<Real> a = noise(s.m * s.k, "a"), b = noise(s.k * s.n, "b");
    std::vector<std::vector<Real>> results;
    for (const int threads : {1, 2, 3}) {
      set_num_threads(threads);
      std::vector<Real> c(static_cast<std::size_t>(s.m * s.n));
      gemm(s.m, s.n, s.k, Real(1), {a.data(), s.k}, {b.data(), s.n}, Real(0), c.data(), s.n);
      // The same elements, read as a transposed matrix.
      gemm(s.m, s.n, s.k, Real(1), {a.data(), s.k}, transposed(b.data(), s.k), Real(1), c.data(),
           s.n);
      results.push_back(c);
    }
    CHECK(results[0] == results[1]);
    CHECK(results[0] == results[2]);
  }
  set_num_threads(before);
}

TEST_CASE("products at the same time are the products one by one") {
  const int before = num_threads();
  const std::vector<Sizes> sizes{
      {300, 64, 200}, {64, 300, 200}, {0, 5, 3}, {20, 30, 40}, {9, 7, 0}};
  const std::vector<Real> a = noise(300 * 200, "a"), b = noise(300 * 200, "b");
  const auto start = noise(300 * 64, "c");
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    std::vector<std::vector<Real>> together(sizes.size(), start), alone = together;
    std::vector<Product> products;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Sizes& s = sizes[i];
      const Real beta = i % 2 == 0 ? Real(0) : Real(0.5);
      products.push_back({s.m,
                          s.n,
                          s.k,
                          Real(2),
                          {a.data(), s.k},
                          {b.data(), s.n},
                          beta,
                          together[i].data(),
                          s.n});
      gemm(s.m, s.n, s.k, Real(2), {a.data(), s.k}, {b.data(), s.n}, beta, alone[i].data(), s.n);
    }
    gemm(products);
    gemm(std::span<const Product>());  // nothing to do
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      INFO("product " << i << " on " << threads << " threads");
      double worst = 0;
      for (std::size_t at = 0; at < start.size(); ++at) {
        worst = larger(worst, std::abs(double(together[i][at] - alone[i][at])));
      }
      CHECK(worst < (is_double ? 1e-12 : 2e-4));
      CHECK((together[i] == start) == (sizes[i].m == 0));
    }
  }
  set_num_threads(before);
}

TEST_CASE("the BLAS describes itself") { CHECK_FALSE(describe_blas().empty()); }
