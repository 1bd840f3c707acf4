// The GELU kernels against their references.
#include "kernels/gelu.hpp"

#include <cmath>

#include "kernels/against_reference.hpp"
#include "kernels/gelu_reference.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

TEST_CASE("gelu agrees with its reference, tails of a batch included, and adds when told to") {
  Rng rng(1);
  for (const Index n : {1, 7, 16, 33, 1000}) {
    Array x = random_array(rng, {1, n});
    for (Real& value : x.span()) value *= 3;
    const Array dy = random_array(rng, {1, n});
    const auto exact = matrix_of<double>(x);
    Array y(x.shape()), dx(x.shape());
    kernels::gelu(x.data(), n, y.data());
    require_close(y, reference::gelu(exact), value_tolerance);
    kernels::gelu_backward(x.data(), dy.data(), n, false, dx.data());
    const reference::Matrix<double> slope = matrix_of<double>(dy) * reference::gelu_slope(exact);
    require_close(dx, slope, gradient_tolerance);
    kernels::gelu_backward(x.data(), dy.data(), n, true, dx.data());
    require_close(dx, reference::Matrix<double>(2 * slope), gradient_tolerance);
  }
}

TEST_CASE("gelu keeps its relative accuracy where it is tiny, and ends in 0 and x") {
  Array x({1, 4001}), y(x.shape());
  for (Index i = 0; i < x.size(); ++i) x[i] = Real(double(i) / 100 - 20);
  kernels::gelu(x.data(), x.size(), y.data());
  double worst = 0;
  for (Index i = 0; i < x.size(); ++i) {
    const double v = double(x[i]);
    const double exact = 0.5 * v * std::erfc(-v / std::sqrt(2.0));
    // Down to -5; in double erf's own cancellation shows, in float x^2 in the exponent.
    if (v >= -5 && v != 0) worst = std::max(worst, std::abs(double(y[i]) / exact - 1));
    if (v < -15) CHECK(std::abs(y[i]) < Real(1e-30));
    if (v > 15) CHECK(y[i] == x[i]);
  }
  CHECK(worst < (is_double ? 1e-9 : 3e-6));
  Real odd[] = {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity()};
  kernels::gelu(odd, 2, odd);
  CHECK(std::isnan(odd[0]));
  CHECK(odd[1] == std::numeric_limits<Real>::infinity());
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
