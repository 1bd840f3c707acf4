// gradcheck: accepts correct gradients and detects wrong ones.
#include "headroom/autograd/gradcheck.hpp"

#include "autograd/toy_operations.hpp"
#include "headroom/base/error.hpp"
#include "support/close.hpp"
#include "support/random.hpp"

using namespace headroom;
using namespace headroom::test;

using Tensors = std::vector<Tensor>;

#if defined(HEADROOM_DOUBLE)

namespace {

/// sqrt(x) with a backward pass computed from dy, y and the gradient summed so far.
template <class F>
std::function<Tensor(const Tensors&)> root_with(F backward) {
  return [backward](const Tensors& x) {
    const OpScope op("root");
    const Array y = each(x[0].value(), [](Real v) { return std::sqrt(v); });
    return record(op, y, {x[0]},
                  [backward, y](const Array& dy, auto& into) { backward(dy, y, into[0]); });
  };
}

const Array positive(Shape{4}, {1, 2, 3, 5});

}  // namespace

TEST_CASE("gradcheck passes a right gradient, number by number") {
  const auto result =
      gradcheck([](const Tensors& x) { return product(root(x[0]), times(x[1], 3)); },
                {positive, Array(Shape{4}, {1, -2, 0, 4})});
  INFO(result.text());
  CHECK(result.passed);
  CHECK(result.compared == 2 * 8);
  CHECK(result.worst < 0.01);  // far better than the tolerance
}

TEST_CASE("gradcheck takes random directions when there are many numbers") {
  Rng rng(1);
  const Array x = uniform({300}, rng, 1, 2);
  CHECK(gradcheck([](const Tensors& in) { return root(in[0]); }, {x}).passed);
  const auto wrong = gradcheck(root_with([](const Array& dy, const Array& y, GradientSlot into) {
                                 Array dx = each(dy, y, [](Real d, Real s) { return d / (2 * s); });
                                 dx[299] *= Real(1.01);  // one element of 300, by 1 %
                                 into += dx;
                               }),
                               {x});
  CHECK_FALSE(wrong.passed);
  CHECK(wrong.input == -1);
}

TEST_CASE("gradcheck names the worst number with both values") {
  const auto result = gradcheck(root_with([](const Array& dy, const Array& y, GradientSlot into) {
                                  Array dx =
                                      each(dy, y, [](Real d, Real s) { return d / (2 * s); });
                                  dx[2] += Real(0.5);
                                  into += dx;
                                }),
                                {positive});
  CHECK_FALSE(result.passed);
  CHECK(result.input == 0);
  CHECK(result.element == 2);
  CHECK(std::abs(result.analytic - result.numeric - 0.5) < 1e-9);
  CHECK_THAT(result.text(),
             Catch::StartsWith("gradcheck failed") && Catch::Contains("input 0, element 2"));
}

TEST_CASE("gradcheck catches a flipped sign, a zero gradient, a NaN and a small error") {
  const auto scaled = [](Real factor) {
    return [factor](const Array& dy, const Array& y, GradientSlot into) {
      into += each(dy, y, [factor](Real d, Real s) { return factor * d / (2 * s); });
    };
  };
  CHECK(gradcheck(root_with(scaled(1)), {positive}).passed);
  CHECK_FALSE(gradcheck(root_with(scaled(-1)), {positive}).passed);
  CHECK_FALSE(gradcheck(root_with(scaled(0)), {positive}).passed);
  CHECK_FALSE(gradcheck(root_with(scaled(Real(1.00001))), {positive}).passed);
  CHECK_FALSE(gradcheck(root_with(scaled(std::nan(""))), {positive}).passed);
}

TEST_CASE("gradcheck names the operation whose gradient is missing") {
  CHECK_THROWS_WITH(
      gradcheck(root_with([](const Array&, const Array&, const GradientSlot&) {}), {positive}),
      Catch::Contains("'root' added nothing to the gradient of its input 0"));
}

TEST_CASE("gradcheck catches a gradient that overwrites instead of adding") {
  const auto overwriting = root_with([](const Array& dy, const Array& y, GradientSlot into) {
    into.sum() = each(dy, y, [](Real d, Real s) { return d / (2 * s); });
  });
  CHECK_FALSE(gradcheck(overwriting, {positive}).passed);
}

TEST_CASE("gradcheck catches a function that is off the tape") {
  CHECK_FALSE(
      gradcheck([](const Tensors& x) { return times(x[0].detach(), 2); }, {positive}).passed);
}

TEST_CASE("gradcheck of nothing passes") {
  CHECK(gradcheck([](const Tensors& x) { return times(x[0], 2); }, {Array(Shape{0})}).passed);
}

#else

TEST_CASE("gradcheck in float sees a gradient that is 5 % wrong") {
  const auto scaled = [](Real factor) {
    return [factor](const Tensors& x) {
      const OpScope op("square");
      const auto square = [](Real v) { return v * v; };
      return record(op, each(x[0].value(), square), {x[0]},
                    [factor, v = x[0].value()](const Array& dy, Gradients& into) {
                      into[0] += each(dy, v, [&](Real d, Real u) { return factor * 2 * d * u; });
                    });
    };
  };
  const Array x(Shape{4}, {1, -2, 300, Real(0.01)});
  CHECK(gradcheck(scaled(1), {x}).passed);
  CHECK_FALSE(gradcheck(scaled(Real(1.05)), {x}).passed);
  CHECK_FALSE(gradcheck(scaled(Real(0.95)), {x}).passed);
}

TEST_CASE("gradcheck in float refuses steps that are lost in rounding") {
  GradcheckOptions options;
  const auto check = [&] {
    gradcheck([](const Tensors& x) { return times(x[0], 2); }, {Array(Shape{1}, {1})}, options);
  };
  options.step = Real(0.01);
  CHECK_NOTHROW(check());
  options.step = Real(0.001);
  CHECK_THROWS_AS(check(), UsageError);
  CHECK_THROWS_WITH(check(), Catch::Contains("at least 0.01") && Catch::Contains("headroom_f64"));
}

#endif
