// The layer norm and RMS norm kernels against their references.
#include "kernels/against_reference.hpp"
#include "kernels/layer_norm.hpp"
#include "kernels/layer_norm_reference.hpp"
#include "kernels/rms_norm.hpp"
#include "kernels/rms_norm_reference.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
struct Case {
  Index rows, columns;
};
const Case cases[] = {{1, 1}, {3, 5}, {130, 8}, {4, 33}};
constexpr double epsilon = 1e-5;

/// A vector as a matrix of one row, so that complex steps can run through it.
template <class S>
reference::Vector<S> only_row(const reference::Matrix<S>& matrix) {
  reference::Vector<S> row = xt::zeros<S>({matrix.shape(1)});
  std::copy(matrix.begin(), matrix.end(), row.begin());
  return row;
}
}  // namespace

TEST_CASE("layer norm agrees with its reference in values and all three gradients") {
  Rng rng(1);
  for (const auto& [rows, columns] : cases) {
    const Array x = random_array(rng, {rows, columns}), dy = random_array(rng, {rows, columns});
    const Array weight = random_array(rng, {columns}), bias = random_array(rng, {columns});
    Array y(x.shape()), mean(Shape{rows}), rstd(Shape{rows});
    kernels::layer_norm(x.data(), weight.data(), bias.data(), Real(epsilon), rows, columns,
                        y.data(), mean.data(), rstd.data());
    require_close(y,
                  reference::layer_norm(matrix_of<double>(x), vector_of<double>(weight),
                                        vector_of<double>(bias), epsilon),
                  10 * value_tolerance);

    Array dx(x.shape()), dweight(weight.shape()), dbias(bias.shape());
    kernels::layer_norm_backward(
        x.data(), weight.data(), mean.data(), rstd.data(), dy.data(), rows, columns,
        {.dx = dx.data(), .dweight = dweight.data(), .dbias = dbias.data()});
    const auto z = matrix_of<Complex>(x);
    const auto w = vector_of<Complex>(weight), b = vector_of<Complex>(bias);
    require_close(
        dx,
        complex_step_gradient(
            x, dy, [&](const auto& at) { return reference::layer_norm(at, w, b, epsilon); }),
        10 * gradient_tolerance);
    require_close(dweight,
                  complex_step_gradient(weight, dy,
                                        [&](const auto& at) {
                                          return reference::layer_norm(z, only_row(at), b, epsilon);
                                        }),
                  10 * gradient_tolerance);
    require_close(dbias,
                  complex_step_gradient(bias, dy,
                                        [&](const auto& at) {
                                          return reference::layer_norm(z, w, only_row(at), epsilon);
                                        }),
                  10 * gradient_tolerance);
  }
}

TEST_CASE("RMS norm agrees with its reference in values and both gradients") {
  Rng rng(2);
  for (const auto& [rows, columns] : cases) {
    const Array x = random_array(rng, {rows, columns}), dy = random_array(rng, {rows, columns});
    const Array weight = random_array(rng, {columns});
    Array y(x.shape()), rrms(Shape{rows});
    kernels::rms_norm(x.data(), weight.data(), Real(epsilon), rows, columns, y.data(), rrms.data());
    require_close(y, reference::rms_norm(matrix_of<double>(x), vector_of<double>(weight), epsilon),
                  value_tolerance);

    Array dx(x.shape()), dweight(weight.shape());
    kernels::rms_norm_backward(x.data(), weight.data(), rrms.data(), dy.data(), rows, columns,
                               {.dx = dx.data(), .dweight = dweight.data()});
    const auto z = matrix_of<Complex>(x);
    const auto w = vector_of<Complex>(weight);
    require_close(dx,
                  complex_step_gradient(
                      x, dy, [&](const auto& at) { return reference::rms_norm(at, w, epsilon); }),
                  10 * gradient_tolerance);
    require_close(dweight,
                  complex_step_gradient(weight, dy,
                                        [&](const auto& at) {
                                          return reference::rms_norm(z, only_row(at), epsilon);
                                        }),
                  10 * gradient_tolerance);
  }
}

TEST_CASE("the sums over many rows have all of them") {
  constexpr Index rows = 2000, columns = 40;  // several chunks
  Rng rng(8);
  const Array x = random_array(rng, {rows, columns}), dy = random_array(rng, {rows, columns});
  const Array weight = random_array(rng, {columns});
  Array y(x.shape()), mean(Shape{rows}), rstd(Shape{rows}), rrms(Shape{rows});
  kernels::layer_norm(x.data(), weight.data(), nullptr, Real(epsilon), rows, columns, y.data(),
                      mean.data(), rstd.data());
  kernels::rms_norm(x.data(), weight.data(), Real(epsilon), rows, columns, y.data(), rrms.data());
  Array dweight(weight.shape()), dbias(weight.shape()), dweight_rms(weight.shape());
  kernels::layer_norm_backward(x.data(), weight.data(), mean.data(), rstd.data(), dy.data(), rows,
                               columns, {.dweight = dweight.data(), .dbias = dbias.data()});
  kernels::rms_norm_backward(x.data(), weight.data(), rrms.data(), dy.data(), rows, columns,
                             {.dweight = dweight_rms.data()});
  for (Index c = 0; c < columns; ++c) {
    double of_bias = 0, of_weight = 0, of_weight_rms = 0;
    for (Index r = 0; r < rows; ++r) {
      const auto d = double(dy[r * columns + c]), in = double(x[r * columns + c]);
      of_bias += d;
      of_weight += d * (in - double(mean[r])) * double(rstd[r]);
      of_weight_rms += d * in * double(rrms[r]);
    }
    const double tolerance = is_double ? 1e-10 : 1e-2;
    REQUIRE(std::abs(double(dbias[c]) - of_bias) < tolerance);
    REQUIRE(std::abs(double(dweight[c]) - of_weight) < tolerance);
    REQUIRE(std::abs(double(dweight_rms[c]) - of_weight_rms) < tolerance);
  }
}

TEST_CASE("layer norm of a constant row is its bias, also far from zero") {
  const Array x(Shape{1, 7}, Real(1000)), bias(Shape{7}, Real(0.25)), dy(Shape{1, 7}, Real(3));
  Array y(x.shape()), mean(Shape{1}), rstd(Shape{1}), dx(x.shape());
  kernels::layer_norm(x.data(), nullptr, bias.data(), Real(epsilon), 1, 7, y.data(), mean.data(),
                      rstd.data());
  for (const Real number : y.span()) CHECK(number == Real(0.25));
  kernels::layer_norm_backward(x.data(), nullptr, mean.data(), rstd.data(), dy.data(), 1, 7,
                               {.dx = dx.data()});
  for (const Real number : dx.span()) CHECK(std::isfinite(number));
}

TEST_CASE("layer norm of a row far from zero is that of the row near zero") {
  const Real far = is_double ? Real(1 << 30) : Real(1 << 12);
  const Real tolerance = is_double ? Real(1e-5) : Real(1e-2);
  Array x(Shape{1, 5}, {1, -2, Real(0.5), 3, Real(-0.25)}), moved = x.clone();
  for (Real& number : moved.span()) number += far;
  Array near_zero(x.shape()), y(x.shape()), mean(Shape{1}), rstd(Shape{1});
  for (auto [from, to] : {std::pair(&x, &near_zero), {&moved, &y}}) {
    kernels::layer_norm(from->data(), nullptr, nullptr, Real(epsilon), 1, 5, to->data(),
                        mean.data(), rstd.data());
  }
  for (Index i = 0; i < 5; ++i) {
    CHECK(std::abs(y.data()[i] - near_zero.data()[i]) < tolerance);
  }
}

TEST_CASE("norm gradients are added to sums that are there") {
  const Array x(Shape{2, 2}, {1, 2, 4, 3}), dy(Shape{2, 2}, {1, -1, 2, 5});
  Array y(x.shape()), mean(Shape{2}), rstd(Shape{2});
  kernels::layer_norm(x.data(), nullptr, nullptr, Real(epsilon), 2, 2, y.data(), mean.data(),
                      rstd.data());
  Array dbias(Shape{2}, Real(10));
  kernels::layer_norm_backward(x.data(), nullptr, mean.data(), rstd.data(), dy.data(), 2, 2,
                               {.dbias = dbias.data(), .add_bias = true});
  CHECK(dbias[0] == 13);
  CHECK(dbias[1] == 14);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
