// Helpers of the kernels' xtensor references. A reference computes in a few expressions the same as
// a kernel. It is a template over its scalar: in std::complex<double>, f(x + ih) has the derivative
// of f in its imaginary part, without any subtraction, so tests use it to check gradients, too.
#pragma once

#include <complex>
#include <cstdint>

#include "array/xtensor.hpp"
#if __has_include(<xtensor/containers/xtensor.hpp>)
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xtensor.hpp>
#endif

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace reference {

template <class S>
using Matrix = xt::xtensor<S, 2>;
template <class S>
using Vector = xt::xtensor<S, 1>;
using Allowed = xt::xtensor<bool, 2>;

inline double real_part(double x) { return x; }
inline double real_part(float x) { return double(x); }
inline double real_part(const std::complex<double>& x) { return x.real(); }

/// The largest of each row where `allowed`, by the real part; [R, 1] to broadcast over columns.
/// Without anything allowed: 0.
template <class S>
Matrix<S> row_max(const Matrix<S>& x, const Allowed& allowed) {
  Matrix<S> result = xt::zeros<S>({x.shape(0), std::size_t{1}});
  for (std::size_t r = 0; r < x.shape(0); ++r) {
    bool found = false;
    for (std::size_t c = 0; c < x.shape(1); ++c) {
      if (!allowed(r, c) || (found && real_part(x(r, c)) <= real_part(result(r, 0)))) continue;
      result(r, 0) = x(r, c);
      found = true;
    }
  }
  return result;
}

/// Row sums [R, 1], evaluated at once: a lazy reducer inside an expression gives wrong numbers.
template <class S>
Matrix<S> row_sum(const Matrix<S>& x) {
  return xt::sum(x, {1}, xt::keep_dims | xt::evaluation_strategy::immediate);
}

/// x where `allowed`, 0 elsewhere (xt::where does not take complex numbers).
template <class S>
Matrix<S> only(const Allowed& allowed, Matrix<S> x) {
  for (std::size_t r = 0; r < x.shape(0); ++r) {
    for (std::size_t c = 0; c < x.shape(1); ++c) {
      if (!allowed(r, c)) x(r, c) = S(0);
    }
  }
  return x;
}

inline Allowed all_allowed(std::size_t rows, std::size_t columns) {
  return xt::ones<bool>({rows, columns});
}

}  // namespace reference
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
