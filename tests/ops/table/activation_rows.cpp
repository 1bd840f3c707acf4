// Rows of the activation functions.
#include "headroom/ops/activations.hpp"

#include <cmath>
#include <numbers>

#include "headroom/ops/composed.hpp"
#include "ops/table/operation.hpp"
#include "support/random.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

namespace {

using Long = long double;

constexpr Long root_half = std::numbers::sqrt2_v<Long> / 2;
constexpr Long root_2_over_pi = root_half * 2 * std::numbers::inv_sqrtpi_v<Long>;

Long plain_relu(Long x) { return std::max(x, Long(0)); }
Long plain_gelu(Long x) { return x * (1 + std::erf(x * root_half)) / 2; }
Long plain_gelu_tanh(Long x) {
  return x / 2 * (1 + std::tanh(root_2_over_pi * (x + Long(0.044715L) * x * x * x)));
}
Long plain_sigmoid(Long x) { return 1 / (1 + std::exp(-x)); }
Long plain_silu(Long x) { return x * plain_sigmoid(x); }
Long plain_tanh(Long x) { return std::tanh(x); }

template <class F, class G>
Row activation(const char* name, F operation, G formula, Function composed,
               std::vector<Fault> faults) {
  return {name, name, [=](Draw& draw) {
            return Case{{away_from(draw.shape(), draw.rng, {Real(0)})},
                        [=](const Tensors& x) { return operation(x[0]); },
                        [=](const Arrays& x) { return plain(formula, x[0]); },
                        composed,
                        faults};
          }};
}

auto plain_formula(Activation kind) -> Long (*)(Long) {
  switch (kind) {
    case Activation::relu: return plain_relu;
    case Activation::gelu: return plain_gelu;
    case Activation::gelu_tanh: return plain_gelu_tanh;
    case Activation::silu: return plain_silu;
    case Activation::tanh: return plain_tanh;
    case Activation::sigmoid: return plain_sigmoid;
  }
  return nullptr;
}

Case draw_activate(Draw& draw) {
  constexpr auto kinds = all_of<Activation>();
  const Activation kind = kinds[static_cast<std::size_t>(draw.rng.below(std::ssize(kinds)))];
  const auto formula = plain_formula(kind);
  return {{away_from(draw.shape(), draw.rng, {Real(0)})},
          [kind](const Tensors& x) { return activate(kind, x[0]); },
          [formula](const Arrays& x) { return plain(formula, x[0]); },
          nullptr,
          {wrong_slope("always relu's slope", [](Real x, Real) { return Real(x > 0 ? 1 : 0); })}};
}

}  // namespace

std::vector<Row> activation_rows() {
  const auto one = [](Real, Real) { return Real(1); };
  const auto slope_of_sigmoid = [](Real x, Real) {
    return Real(plain_sigmoid(static_cast<Long>(x)));
  };
  return {
      activation(
          "relu", [](const Tensor& x) { return relu(x); }, plain_relu,
          [](const Tensors& x) { return composed::relu(x[0]); },
          {wrong_slope("negative inputs pass too", one),
           wrong_slope("the slope is y", [](Real, Real y) { return y; })}),
      activation(
          "gelu", [](const Tensor& x) { return gelu(x); }, plain_gelu, nullptr,
          {wrong_slope("the density's term is missing", [](Real x, Real y) { return y / x; }),
           wrong_slope("the density is not multiplied by x",
                       [](Real x, Real y) {
                         const auto v = static_cast<Long>(x);
                         const Long density = std::exp(-v * v / 2) * root_2_over_pi / 2;
                         return y / x + Real(density);
                       })}),
      activation(
          "gelu_tanh", [](const Tensor& x) { return gelu_tanh(x); }, plain_gelu_tanh,
          [](const Tensors& x) { return composed::gelu_tanh(x[0]); },
          {wrong_slope("the cubic term of the inner slope is missing",
                       [](Real x, Real) {
                         const auto v = static_cast<Long>(x);
                         const Long t =
                             std::tanh(root_2_over_pi * (v + Long(0.044715L) * v * v * v));
                         return Real((1 + t) / 2 + v / 2 * (1 - t * t) * root_2_over_pi);
                       }),
           wrong_slope("only the factor of x", [](Real x, Real y) { return y / x; })}),
      activation(
          "silu", [](const Tensor& x) { return silu(x); }, plain_silu,
          [](const Tensors& x) { return composed::silu(x[0]); },
          {wrong_slope("only the sigmoid", slope_of_sigmoid),
           wrong_slope("x's factor is missing",
                       [](Real x, Real y) { return y / x * (1 + 1 - y / x); })}),
      activation("tanh", [](const Tensor& x) { return tanh(x); }, plain_tanh, nullptr,
                 {wrong_slope("y is not squared", [](Real, Real y) { return 1 - y; }),
                  wrong_slope("computed from x", [](Real x, Real) { return 1 - x * x; })}),
      activation(
          "sigmoid", [](const Tensor& x) { return sigmoid(x); }, plain_sigmoid,
          [](const Tensors& x) { return composed::sigmoid(x[0]); },
          {wrong_slope("the factor y is missing", [](Real, Real y) { return 1 - y; }),
           wrong_slope("computed from x", [](Real x, Real) { return x * (1 - x); })}),
      {"activate", "activate", draw_activate},
  };
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
