// A user's program that mixes headroom with its own xtensor expressions.
#include <cmath>
#include <cstdio>
#include <xtensor/xarray.hpp>
#include <xtensor/xmath.hpp>

#include "headroom/headroom.hpp"
#include "headroom/xtensor.hpp"

#if defined(XTENSOR_USE_XSIMD) == EXPECT_SCALAR
#error "headroom::xtensor did not give the SIMD setting that was asked for"
#endif

using headroom::Array;
using headroom::Index;
using headroom::Real;

namespace {
int failures = 0;
void expect(bool right, const char* what) {
  if (!right) std::printf("wrong: %s\n", what);
  if (!right) ++failures;
}
bool near(Real a, double b) {
  return std::abs(double(a) - b) < (headroom::is_double ? 1e-12 : 1e-5);
}
}  // namespace

int main() {
  Array array({5, 7});
  for (Index i = 0; i < array.size(); ++i) array[i] = Real(i) / 8 - 2;
  const Array original = array.clone();

  auto writable = headroom::view(array);
  writable(1, 2) = 9;
  expect(array[1 * 7 + 2] == 9, "writing through a view reaches the array");
  xt::noalias(writable) = xt::exp(headroom::view(original)) * Real(2);
  for (Index i = 0; i < array.size(); ++i) {
    expect(near(array[i], 2 * std::exp(double(original[i]))), "an expression assigned to a view");
  }

  // A user's xtensor container beside the library's arrays.
  xt::xarray<Real> own = xt::tanh(headroom::view(original));
  const Array back = headroom::to_array(own + Real(1));
  expect(back.shape() == original.shape(), "to_array keeps the shape");
  for (Index i = 0; i < back.size(); ++i) {
    expect(near(back[i], std::tanh(double(original[i])) + 1), "to_array of an expression");
  }
  const auto now = xt::evaluation_strategy::immediate;
  const Array rows = headroom::to_array(xt::sum(headroom::view<2>(original), {1}, now));
  expect(rows.shape() == headroom::Shape{5}, "to_array of a reduction");
  for (Index r = 0; r < rows.size(); ++r) {
    expect(near(rows[r], 7 * (7 * double(r) + 3) / 8 - 14), "sums of rows");
  }
  const Array nothing({0, 3});
  expect(headroom::to_array(headroom::view(nothing)).shape() == nothing.shape(), "an empty view");
  try {
    headroom::view<3>(original);
    expect(false, "a view of another rank throws");
  } catch (const headroom::ShapeError& error) {
    expect(std::string(error.what()) == "view: asked for 3 axes of an array of shape [5, 7]",
           "the text of the error");
  }

  // The library's operations use xtensor internally, compiled with the library's settings.
  const headroom::Tensor x = headroom::parameter(original.clone());
  const headroom::Tensor y = headroom::sigmoid(headroom::gelu(x));
  headroom::sum(y).backward();
  for (Index i = 0; i < original.size(); ++i) {
    const double v = double(original[i]), phi = 0.5 * (1 + std::erf(v / std::sqrt(2.0)));
    const double density = std::exp(-v * v / 2) / std::sqrt(2 * std::acos(-1.0));
    const double s = 1 / (1 + std::exp(-v * phi));
    expect(near(y.value()[i], s), "the library's value");
    expect(near(x.grad()[i], s * (1 - s) * (phi + v * density)), "the library's gradient");
  }
  if (failures == 0) std::printf("all numbers are right\n");
  return failures == 0 ? 0 : 1;
}
