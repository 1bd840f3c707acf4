// Comparing a kernel with its xtensor reference: values directly, gradients by complex steps
// through the reference.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <functional>
#include <limits>

#include "headroom/array/array.hpp"
#include "headroom/base/rng.hpp"
#include "kernels/reference.hpp"
#include "support/catch.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

using Complex = std::complex<double>;

inline Array random_array(Rng& rng, const Shape& shape) {
  Array array(shape);
  for (Index i = 0; i < array.size(); ++i) array[i] = rng.normal();
  return array;
}

/// The elements of an array as a matrix of the reference's scalar type.
template <class S>
reference::Matrix<S> matrix_of(const Array& array) {
  const auto columns = static_cast<std::size_t>(array.dim(-1));
  const auto rows = static_cast<std::size_t>(array.size()) / columns;
  reference::Matrix<S> result = xt::zeros<S>({rows, columns});
  for (std::size_t i = 0; i < result.size(); ++i) {
    result(i / columns, i % columns) = static_cast<S>(array[Index(i)]);
  }
  return result;
}
template <class S>
reference::Vector<S> vector_of(const Array& array) {
  reference::Vector<S> result = xt::zeros<S>({static_cast<std::size_t>(array.size())});
  for (Index i = 0; i < array.size(); ++i) {
    result(static_cast<std::size_t>(i)) = static_cast<S>(array[i]);
  }
  return result;
}

/// Fails with the worst position unless |got - wanted| <= tolerance max(1, |wanted|) everywhere.
template <class Wanted>
void require_close(const Array& got, const Wanted& wanted, double tolerance) {
  REQUIRE(static_cast<std::size_t>(got.size()) == wanted.size());
  double worst = 0;
  std::string where = "nowhere";
  auto at = wanted.begin();
  for (Index i = 0; i < got.size(); ++i, ++at) {
    const double is = double(got[i]), should = reference::real_part(*at);
    const double error = std::abs(is - should) / std::max(1.0, std::abs(should));
    if (error <= worst) continue;  // false for NaN
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    where = fmt::format("element {}: got {}, wanted {}", i, is, should);
  }
  INFO(where);
  REQUIRE(worst <= tolerance);
}

/// Fails unless the relative error of every element is at most `share`, however small the element.
template <class Wanted>
void require_digits(const Array& got, const Wanted& wanted, double share) {
  REQUIRE(static_cast<std::size_t>(got.size()) == wanted.size());
  auto at = wanted.begin();
  for (Index i = 0; i < got.size(); ++i, ++at) {
    INFO("element " << i << ": got " << got[i] << ", wanted " << *at);
    REQUIRE(std::abs(double(got[i]) - *at) <= share * std::abs(*at));
  }
}

inline constexpr double value_tolerance = is_double ? 1e-13 : 2e-6;
inline constexpr double gradient_tolerance = is_double ? 1e-12 : 1e-5;

/// d(sum of cotangent * f)/dx by complex steps, Im f(x + ih) / h. `f` maps a complex matrix of x's
/// shape to a complex xtensor.
template <class F>
std::vector<double> complex_step_gradient(const Array& x, const Array& cotangent, const F& f) {
  constexpr double h = 1e-50;
  reference::Matrix<Complex> at = matrix_of<Complex>(x);
  std::vector<double> gradient;
  for (Complex& number : at) {
    number += Complex(0, h);
    const auto y = f(at);
    double slope = 0;
    Index i = 0;
    for (const Complex& element : y) slope += double(cotangent[i++]) * element.imag();
    gradient.push_back(slope / h);
    number -= Complex(0, h);
  }
  return gradient;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
