// The kernels of products, folds and moves against their xtensor references; the references also
// run in complex numbers.
#include <complex>

#include "headroom/base/rng.hpp"
#include "kernels/gather.hpp"
#include "kernels/gemm.hpp"
#include "kernels/gemm_reference.hpp"
#include "kernels/permute.hpp"
#include "kernels/permute_reference.hpp"
#include "kernels/reduce.hpp"
#include "kernels/reduce_reference.hpp"
#include "support/catch.hpp"
#include "support/close.hpp"
#include "support/random.hpp"

using namespace headroom;

namespace {

template <class Expression>
Array to_array(const Shape& shape, const Expression& result) {
  Array array(shape);
  std::copy(result.begin(), result.end(), array.data());
  return array;
}

xt::xtensor<Real, 3> boxed(const Array& x) {
  xt::xtensor<Real, 3> result =
      xt::zeros<Real>({static_cast<std::size_t>(x.dim(0)), static_cast<std::size_t>(x.dim(1)),
                       static_cast<std::size_t>(x.dim(2))});
  std::copy_n(x.data(), x.size(), result.begin());
  return result;
}

}  // namespace

TEST_CASE("gemm equals xtensor-blas, whichever factor is transposed") {
  const Index m = 65, n = 40, k = 70;
  const Array a = test::noise({m, k}, "references", 1), b = test::noise({k, n}, "references", 2);
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      Array c({m, n}), expected({m, n});
      gemm(m, n, k, Real(1), {a.data(), transpose_a ? m : k, transpose_a},
           {b.data(), transpose_b ? k : n, transpose_b}, Real(0), c.data(), n);
      reference::gemm<Real>(m, n, k, a.data(), transpose_a, b.data(), transpose_b, expected.data());
      CHECK_THAT(c, test::close_at_scale(expected, test::tolerance(1e-13, 2e-6)));
    }
  }
}

TEST_CASE("folds, permutations and gathers equal xtensor's") {
  const Array x = test::noise({3, 50, 7}, "references");
  for (const Fold fold : {Fold::sum, Fold::max, Fold::min}) {
    Array y({3, 7});
    fold_middle(fold, x.data(), 3, 50, 7, y.data());
    const Array expected = to_array({3, 7}, reference::fold_middle<Real>(fold, boxed(x)));
    CHECK_THAT(y, test::close_at_scale(expected, test::tolerance(1e-14, 2e-6)));
  }
  const xt::xarray<Real> box = boxed(x);
  for (const std::vector<int>& order : {std::vector<int>{2, 0, 1}, {0, 2, 1}, {1, 0, 2}}) {
    Shape shape;
    for (const int axis : order) shape.push_back(x.dim(axis));
    Array y(shape);
    permute_axes(x.data(), x.shape(), order, y.data());
    const std::vector<std::size_t> axes(order.begin(), order.end());
    CHECK_THAT(y, test::SameBits(to_array(shape, reference::permute<Real>(box, axes))));
  }
  const std::vector<std::int32_t> positions{4, 49, 4, 0};
  Array y({3, 4, 7});
  gather_rows(x.data(), 3, 50, 7, positions.data(), 4, y.data());
  CHECK_THAT(y, test::SameBits(to_array({3, 4, 7}, reference::gather<Real>(boxed(x), positions))));
}

TEST_CASE("the references run in complex numbers: a step along i gives the derivative") {
  using Complex = std::complex<double>;
  const double h = 1e-50;
  const std::vector<Complex> a{{2, h}, {3, 0}}, b{{5, 0}, {7, 0}};
  Complex c;
  reference::gemm<Complex>(1, 1, 2, a.data(), false, b.data(), false, &c);
  CHECK(c.real() == 31);
  CHECK(c.imag() / h == 5);

  xt::xtensor<Complex, 3> x = xt::zeros<Complex>({1, 3, 1});
  x(0, 0, 0) = Complex(1, 0), x(0, 1, 0) = Complex(4, h), x(0, 2, 0) = Complex(2, 0);
  CHECK(reference::fold_middle<Complex>(Fold::max, x)(0, 0) == Complex(4, h));
  CHECK(reference::fold_middle<Complex>(Fold::min, x)(0, 0) == Complex(1, 0));
  CHECK(reference::fold_middle<Complex>(Fold::sum, x)(0, 0) == Complex(7, h));
}
