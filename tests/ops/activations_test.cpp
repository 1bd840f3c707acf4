// Activations: values and slopes against the standard library, far into both tails.
#include "headroom/ops/activations.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "headroom/base/error.hpp"
#include "ops/values.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {

struct Case {
  Activation kind;
  std::function<long double(long double)> value, slope;
};

long double sigma(long double x) { return 1 / (1 + std::exp(-x)); }
long double cdf(long double x) { return std::erfc(-x / std::numbers::sqrt2_v<long double>) / 2; }
long double density(long double x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi_v<long double>);
}
long double tanh_u(long double x) {
  return std::tanh(std::sqrt(2 / std::numbers::pi_v<long double>) * (x + 0.044715L * x * x * x));
}

const std::vector<Case>& cases() {
  static const std::vector<Case> list{
      {Activation::relu, [](long double x) { return x > 0 ? x : 0; },
       [](long double x) { return x > 0 ? 1 : 0; }},
      {Activation::gelu, [](long double x) { return x * cdf(x); },
       [](long double x) { return cdf(x) + x * density(x); }},
      {Activation::gelu_tanh, [](long double x) { return x / 2 * (1 + tanh_u(x)); },
       [](long double x) {
         const long double t = tanh_u(x);
         return (1 + t) / 2 + x / 2 * (1 - t * t) * std::sqrt(2 / std::numbers::pi_v<long double>) *
                                  (1 + 3 * 0.044715L * x * x);
       }},
      {Activation::silu, [](long double x) { return x * sigma(x); },
       [](long double x) { return sigma(x) + x * sigma(x) * sigma(-x); }},
      {Activation::tanh, [](long double x) { return std::tanh(x); },
       [](long double x) { return 1 - std::tanh(x) * std::tanh(x); }},
      {Activation::sigmoid, [](long double x) { return sigma(x); },
       [](long double x) { return sigma(x) * sigma(-x); }}};
  return list;
}

}  // namespace

TEST_CASE("every activation equals its formula, in value and slope, from -12 to 12") {
  const Index n = 4801;  // odd, for the SIMD loop and its remainder
  Array points({n});
  for (Index i = 0; i < n; ++i) points[i] = Real(i - n / 2) / Real(200) + Real(0.001);
  const long double tolerance = is_double ? 2e-14L : 3e-6L;
  for (const Case& c : cases()) {
    INFO(name_of(c.kind));
    const Tensor x = parameter(points);
    const Tensor y = activate(c.kind, x);
    y.backward(Array({n}, Real(2)));
    long double worst_value = 0, worst_slope = 0;
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<long double>(points[i]);
      const auto value = static_cast<long double>(y.value()[i]);
      const auto slope = static_cast<long double>(x.grad()[i]) / 2;
      worst_value = std::max(worst_value, std::abs(value - c.value(at)) / (1 + std::abs(at)));
      worst_slope = std::max(worst_slope, std::abs(slope - c.slope(at)));
    }
    CHECK(worst_value <= tolerance);
    CHECK(worst_slope <= tolerance);
  }
}

TEST_CASE("activations are finite for huge inputs and hand a NaN on") {
  for (const Case& c : cases()) {
    INFO(name_of(c.kind));
    const Tensor x = parameter(Array({2}, {Real(-1e4), Real(1e4)}));
    const Tensor y = activate(c.kind, x);
    y.backward(ones({2}));
    for (const Real v : values(y.value())) CHECK(std::isfinite(v));
    for (const Real v : values(x.grad())) CHECK(std::isfinite(v));
    const Array bad({9}, std::numeric_limits<Real>::quiet_NaN());
    for (const Real v : values(activate(c.kind, Tensor(bad)).value())) CHECK(std::isnan(v));
  }
  const Tensor zero = parameter(zeros({1}));
  relu(zero).backward();
  CHECK(zero.grad()[0] == 0);
}

TEST_CASE("every activation is compared with its formula") {
  REQUIRE(cases().size() == all_of<Activation>().size());
  for (std::size_t i = 0; i < cases().size(); ++i) {
    CHECK(cases()[i].kind == all_of<Activation>()[i]);
  }
}

TEST_CASE("activations are found by name, and a wrong name lists them") {
  for (const Case& c : cases())
    CHECK(from_name<Activation>("activation", name_of(c.kind)) == c.kind);
  CHECK_THROWS_AS(from_name<Activation>("activation", "swish"), UsageError);
  CHECK_THROWS_WITH(from_name<Activation>("activation", "swish"),
                    "activation: \"swish\" is not one of relu, gelu, gelu_tanh, silu, tanh, "
                    "sigmoid");
}
