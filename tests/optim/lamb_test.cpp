// LAMB: arithmetic against values of torch and plain loops, and properties of the trust ratio.
#include "headroom/optim/lamb.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "headroom/base/error.hpp"
#include "support/bag.hpp"
#include "support/catch.hpp"
#include "support/close.hpp"
#include "support/optim_support.hpp"
#include "support/random.hpp"

using namespace headroom;
using headroom::test::set_slopes;
using headroom::test::slope;

namespace {

/// Change of a parameter in one step.
Array change_of(const Array& start, const Array& gradient, const LambOptions& options) {
  Bag bag;
  Tensor& p = bag.add("p", start.clone());
  p.set_grad(gradient.clone());
  Lamb(bag, options).step(0.01);
  Array change(start.shape());
  for (Index i = 0; i < change.size(); ++i) change[i] = p.value()[i] - start[i];
  return change;
}

Array times(Real factor, const Array& array) {
  Array result = array.clone();
  for (Real& x : result.span()) x *= factor;
  return result;
}

double norm_of(const Array& array) {
  double squares = 0;
  for (const Real x : array.span()) squares += double(x) * double(x);
  return std::sqrt(squares);
}

}  // namespace

// The numbers come from torch in double, with p of shape (2, 3) and the gradients of set_slopes:
//   m = 0.9*m + 0.1*g;  v = 0.98*v + 0.02*g*g
//   u = (m/(1-0.9**t)) / ((v/(1-0.98**t)).sqrt() + 1e-6) + 0.1*p
//   p = p - 0.02*(p.norm()/u.norm())*u
TEST_CASE("six steps of LAMB end where the same formula ends elsewhere") {
  Bag bag;
  Tensor& p = bag.add("p", Array({2, 3}, {Real(0.5), Real(-0.25), 1, -2, Real(0.75), Real(1.5)}));
  Lamb lamb(bag, {.beta2 = 0.98, .weight_decay = 0.1});
  for (Index t = 1; t <= 6; ++t) {
    set_slopes(p, t);
    lamb.step(0.02);
  }
  const Array expected(
      {2, 3}, {Real(0.3489194555618745), Real(-0.3727228932976562), Real(0.9927582182926137),
               Real(-1.8317375648837393), Real(0.7177447048295914), Real(1.5103444838254878)});
  CHECK_THAT(p.value(), test::close_at_scale(expected, test::tolerance(1e-14, 1e-6)));
}

TEST_CASE("LAMB follows a loop in long double, each parameter with its own ratio and its bounds") {
  Bag bag;
  Tensor& matrix = bag.add("matrix", test::noise({7, 5}, "matrix"));
  Tensor& vector = bag.add("vector", test::noise({3}, "vector"));
  const std::array<Array, 2> starts{matrix.value().clone(), vector.value().clone()};
  Lamb lamb(bag, {.epsilon = 1e-3, .weight_decay = 0.05, .smallest_norm = 2, .largest_norm = 3});
  for (Index t = 1; t <= 30; ++t) {
    set_slopes(matrix, t);
    set_slopes(vector, t);
    lamb.step(0.01);
  }
  for (const auto& [start, tensor] : {std::pair(starts[0], matrix), {starts[1], vector}}) {
    std::vector<long double> p(start.span().begin(), start.span().end()), m(p.size(), 0),
        v(p.size(), 0), u(p.size(), 0);
    for (int t = 1; t <= 30; ++t) {
      long double weights = 0, direction = 0;
      for (std::size_t i = 0; i < p.size(); ++i) {
        const auto g = static_cast<long double>(slope(t, Index(i)));
        m[i] = 0.9L * m[i] + 0.1L * g;
        v[i] = 0.999L * v[i] + 0.001L * g * g;
        const long double m_hat = m[i] / (1 - std::pow(0.9L, t)),
                          v_hat = v[i] / (1 - std::pow(0.999L, t));
        u[i] = m_hat / (std::sqrt(v_hat) + 1e-3L) + 0.05L * p[i];
        weights += p[i] * p[i];
        direction += u[i] * u[i];
      }
      const long double phi = std::min(std::max(std::sqrt(weights), 2.0L), 3.0L);
      for (std::size_t i = 0; i < p.size(); ++i) p[i] -= 0.01L * phi / std::sqrt(direction) * u[i];
    }
    Array expected(tensor.shape());
    std::transform(p.begin(), p.end(), expected.data(), [](long double x) { return Real(x); });
    CHECK_THAT(tensor.value(), test::close_at_scale(expected, test::tolerance(1e-13, 5e-6)));
  }
}

TEST_CASE("LAMB leaves a parameter without gradient alone") {
  Bag bag;
  Tensor& moved = bag.add("moved", test::noise({3}, "moved"));
  const Array still = test::noise({2, 2}, "still");
  bag.add("still", still.clone());
  Lamb lamb(bag);
  lamb.may_be_unused([](const NamedParameter& p) { return p.name == "still"; });
  set_slopes(moved, 1);
  lamb.step(0.01);
  CHECK_THAT(bag.tensors["still"].value(), test::SameBits(still));
  CHECK(lamb.state("still").steps == std::vector<std::int64_t>{0, 0});
  CHECK(lamb.state("moved").steps == std::vector<std::int64_t>{1, 1, 1});
}

TEST_CASE("an update is as long as the rate times the weights, whatever the gradient's scale") {
  const Array start = test::noise({6, 4}, "start"), gradient = test::noise({6, 4}, "gradient");
  const LambOptions options{.epsilon = 0};
  const Array change = change_of(start, gradient, options);
  CHECK(std::abs(norm_of(change) / norm_of(start) - 0.01) < (is_double ? 1e-14 : 1e-7));
  // Powers of two change no rounding.
  CHECK_THAT(change_of(start, times(1024, gradient), options), test::SameBits(change));
  CHECK_THAT(change_of(times(8, start), gradient, options),
             test::close_at_scale(times(8, change), test::tolerance(1e-13, 1e-5)));
}

TEST_CASE("weights of zero, or a direction of zero, have the ratio 1 and no NaN") {
  const Array gradient = test::noise({4}, "gradient");
  const Array change = change_of(zeros({4}), gradient, {.epsilon = 0});
  for (Index i = 0; i < 4; ++i) {  // the first step of Adam: the sign of the gradient
    CHECK(std::abs(std::abs(change[i]) - Real(0.01)) < Real(1e-7));
  }
  CHECK_THAT(change_of(test::noise({4}, "start"), zeros({4}), {}), test::SameBits(zeros({4})));
}

TEST_CASE("a head that came back is corrected by its own steps, within the ratio of its block") {
  // Columns 0-1 have taken three steps, columns 2-3 none.
  const Array value = test::noise({2, 4}, "value"), gradient = test::noise({2, 4}, "gradient"),
              first = test::noise({2, 4}, "first");
  Bag bag;
  Tensor& p = bag.add("p", value.clone());
  Lamb lamb(bag);
  lamb.set_state("p", {first.clone(), Array({2, 4}, Real(0.5)), 1, {3, 3, 0, 0}});
  p.set_grad(gradient.clone());
  lamb.step(0.1);
  CHECK(lamb.state("p").steps == std::vector<std::int64_t>{4, 4, 1, 1});

  std::vector<double> direction;
  double weights = 0, squares = 0;
  for (Index i = 0; i < 8; ++i) {
    const double t = i % 4 < 2 ? 4 : 1, g = double(gradient[i]);
    const double m = 0.9 * double(first[i]) + 0.1 * g, v = 0.999 * 0.5 + 0.001 * g * g;
    direction.push_back(m / (1 - std::pow(0.9, t)) /
                        (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-6));
    squares += direction.back() * direction.back();
    weights += double(value[i]) * double(value[i]);
  }
  Array expected({2, 4});
  for (Index i = 0; i < 8; ++i) {
    const double change =
        0.1 * std::sqrt(weights / squares) * direction[static_cast<std::size_t>(i)];
    expected[i] = Real(double(value[i]) - change);
  }
  CHECK_THAT(p.value(), test::close_at_scale(expected, test::tolerance(1e-13, 1e-5)));
}

TEST_CASE("options of LAMB outside their range are refused") {
  Bag bag;
  CHECK_THROWS_WITH(Lamb(bag, {.beta1 = 1}), "lamb: beta1 1 is not in [0, 1)");
  CHECK_THROWS_AS(Lamb(bag, {.epsilon = -1}), UsageError);
  CHECK_THROWS_WITH(Lamb(bag, {.smallest_norm = 2, .largest_norm = 1}),
                    "lamb: largest norm 1 is below the smallest, 2");
  CHECK(Lamb(bag, {.granularity = Granularity::head}).title() ==
        "lamb: beta1 0.9, beta2 0.999, epsilon 1e-06, weight decay 0, per head");
}
