// The softmax kernels against their references.
#include "kernels/softmax.hpp"

#include "kernels/against_reference.hpp"
#include "kernels/softmax_reference.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
struct SoftmaxCase {
  Index rows, columns;
};
const SoftmaxCase softmax_cases[] = {{1, 1}, {3, 5}, {4, 8}, {2, 17}, {5, 33}};

reference::Allowed random_mask(Rng& rng, Index rows, Index columns) {
  reference::Allowed allowed =
      reference::all_allowed(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  for (auto&& a : allowed) a = rng.uniform() < Real(0.6);
  for (std::size_t c = 0; c < allowed.shape(1); ++c) allowed(0, c) = false;  // nothing allowed
  return allowed;
}
}  // namespace

TEST_CASE("softmax and log_softmax agree with their references") {
  Rng rng(1);
  for (const auto& [rows, columns] : softmax_cases) {
    const Array x = random_array(rng, {rows, columns}), dy = random_array(rng, {rows, columns});
    const auto exact = matrix_of<double>(x);
    Array y(x.shape()), dx(x.shape());
    kernels::softmax(x.data(), rows, columns, y.data());
    require_close(y, reference::softmax(exact), value_tolerance);
    kernels::softmax_backward(y.data(), dy.data(), rows, columns, false, dx.data());
    require_close(dx,
                  complex_step_gradient(x, dy, [](const auto& z) { return reference::softmax(z); }),
                  gradient_tolerance);
    kernels::log_softmax(x.data(), rows, columns, y.data());
    require_close(y, reference::log_softmax(exact), value_tolerance);
    kernels::log_softmax_backward(y.data(), dy.data(), rows, columns, false, dx.data());
    require_close(
        dx, complex_step_gradient(x, dy, [](const auto& z) { return reference::log_softmax(z); }),
        gradient_tolerance);
  }
}

TEST_CASE("masked softmax agrees with its reference and skips what is not allowed") {
  Rng rng(2);
  for (const auto& [rows, columns] : softmax_cases) {
    Array x = random_array(rng, {rows, columns}), dy = random_array(rng, {rows, columns});
    const reference::Allowed allowed = random_mask(rng, rows, columns);
    Bytes bytes(x.shape());
    std::copy(allowed.begin(), allowed.end(), bytes.data());
    const auto wanted = reference::softmax(matrix_of<double>(x), allowed);
    const auto slope =
        complex_step_gradient(x, dy, [&](const auto& z) { return reference::softmax(z, allowed); });
    for (Index i = 0; i < x.size(); ++i) {
      if (bytes[i] == 0) x[i] = dy[i] = std::numeric_limits<Real>::quiet_NaN();
    }
    Array y(x.shape()), dx(x.shape());
    kernels::masked_softmax(x.data(), bytes.data(), rows, columns, y.data());
    require_close(y, wanted, value_tolerance);
    kernels::softmax_backward(y.data(), dy.data(), rows, columns, false, dx.data());
    require_close(dx, slope, gradient_tolerance);
  }
}

TEST_CASE("softmax survives logits that would overflow, and hands a NaN on") {
  const Array x(Shape{3}, {Real(3e4), Real(3e4), Real(-3e4)});
  Array y(x.shape());
  kernels::softmax(x.data(), 1, 3, y.data());
  require_close(y, std::vector<double>{0.5, 0.5, 0}, value_tolerance);
  const Array bad(Shape{2}, {std::numeric_limits<Real>::quiet_NaN(), Real(1)});
  kernels::softmax(bad.data(), 1, 2, y.data());
  CHECK(std::isnan(y[0]));
  CHECK(std::isnan(y[1]));
}

TEST_CASE("rows far below zero have the softmax of the same rows near zero, at every length") {
  // All elements are multiples of 1/8, so that the shift by 5000 rounds nothing.
  for (Index columns = 1; columns <= 35; ++columns) {
    INFO(columns << " columns");
    Array near(Shape{2, columns}), far(Shape{2, columns});
    for (Index i = 0; i < near.size(); ++i) {
      near[i] = Real((7 * i) % 31 - 15) / Real(8);
      far[i] = near[i] - Real(5000);
    }
    Bytes allowed(near.shape(), std::uint8_t{1});
    for (Index i = 1; i < allowed.size(); i += 3) allowed[i] = columns > 1 ? 0 : 1;
    const auto same = [&](const auto& kernel) {
      Array expected(near.shape()), y(near.shape());
      kernel(near, expected);
      kernel(far, y);
      require_close(y, matrix_of<double>(expected), value_tolerance);
    };
    same([&](const Array& x, Array& y) { kernels::softmax(x.data(), 2, columns, y.data()); });
    same([&](const Array& x, Array& y) { kernels::log_softmax(x.data(), 2, columns, y.data()); });
    same([&](const Array& x, Array& y) {
      kernels::masked_softmax(x.data(), allowed.data(), 2, columns, y.data());
    });
  }
}

TEST_CASE("where one weight is nearly 1, the gradient of its score keeps its digits") {
  const Array x(Shape{2, 4}, {Real(12), Real(0), Real(-1), Real(1),  //
                              Real(0.5), Real(-7), Real(-9), Real(-8)});
  const Array dy(Shape{2, 4}, {Real(5.7), Real(-3.1), Real(2.3), Real(0.4),  //
                               Real(-8.9), Real(1.3), Real(-0.7), Real(4.1)});
  Array y(x.shape()), dx(x.shape());
  kernels::softmax(x.data(), 2, 4, y.data());
  kernels::softmax_backward(y.data(), dy.data(), 2, 4, false, dx.data());
  require_digits(dx,
                 complex_step_gradient(x, dy, [](const auto& z) { return reference::softmax(z); }),
                 is_double ? 1e-10 : 2e-6);
}

TEST_CASE("softmax gradients are added to a sum that is there") {
  Rng rng(3);
  const Array x = random_array(rng, {2, 9}), dy = random_array(rng, {2, 9});
  Array y(x.shape()), once(x.shape());
  const auto doubled = [&](const auto& backward) {
    backward(false, once);
    Array twice = once.clone();
    backward(true, twice);
    std::vector<double> wanted;
    for (const Real g : once.span()) wanted.push_back(2 * double(g));
    require_close(twice, wanted, value_tolerance);
  };
  kernels::softmax(x.data(), 2, 9, y.data());
  doubled([&](bool add, Array& dx) {
    kernels::softmax_backward(y.data(), dy.data(), 2, 9, add, dx.data());
  });
  kernels::log_softmax(x.data(), 2, 9, y.data());
  doubled([&](bool add, Array& dx) {
    kernels::log_softmax_backward(y.data(), dy.data(), 2, 9, add, dx.data());
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
