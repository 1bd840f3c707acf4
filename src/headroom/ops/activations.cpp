// Activation functions other than sigmoid, which is in sigmoid.cpp.
#include "headroom/ops/activations.hpp"

#include <numbers>

#include "array/map.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "kernels/broadcast.hpp"
#include "kernels/gelu.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
// Constants of the tanh GELU. xtensor expressions hold them by reference, so they outlive
// functions.
constexpr Real half = Real(0.5);
constexpr Real k = Real(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);  // sqrt(2 / pi)
constexpr Real c = Real(0.044715);
}  // namespace

Tensor relu(const Tensor& x) {
  OpScope op("relu");
  const auto rectify = [](Real v) { return v < 0 ? Real(0) : v; };  // NaN stays NaN
  Array y = broadcast_map(x.shape(), rectify, x.value());
  return record(op, y, {x}, [y](const Array& dy, Gradients& into) {
    const auto pass = [](Real d, Real v) { return v > 0 ? d : Real(0); };
    into[0] += broadcast_map(dy.shape(), pass, dy, y);
  });
}

// y = x Phi(x), so y' = Phi(x) + x phi(x).
Tensor gelu(const Tensor& x) {
  OpScope op("gelu");
  const auto again = [x = x.value()] {
    Array y(x.shape());
    kernels::gelu(x.data(), y.size(), y.data());
    return y;
  };
  return record(
      op, again(), {x},
      [x = x.value()](const Array& dy, Gradients& into) {
        const auto [dx, add] = into[0].write_or_add();
        kernels::gelu_backward(x.data(), dy.data(), x.size(), add, dx.data());
      },
      again);
}

// y = x/2 (1 + tanh u) with u = k (x + c x^3), so
// y' = (1 + tanh u)/2 + x/2 (1 - tanh^2 u) k (1 + 3 c x^2).
Tensor gelu_tanh(const Tensor& x) {
  OpScope op("gelu_tanh");
  const auto tanh_u = [](const auto& v) { return xt::tanh(k * (v + c * v * v * v)); };
  Array y = map([tanh_u](const auto& v) { return half * v * (Real(1) + tanh_u(v)); }, x.value());
  return record(op, y, {x}, [x = x.value(), tanh_u](const Array& dy, Gradients& into) {
    const Array t = map(tanh_u, x);  // once for both places in y'
    into[0] += map(
        [](const auto& d, const auto& v, const auto& u) {
          return d * half * (Real(1) + u + v * (Real(1) - u * u) * k * (Real(1) + 3 * c * v * v));
        },
        dy, x, t);
  });
}

// y = x s(x), so y' = s + x s (1 - s) = s (1 + x - y).
Tensor silu(const Tensor& x) {
  OpScope op("silu");
  Array y = map([](const auto& v) { return v / (Real(1) + xt::exp(-v)); }, x.value());
  return record(op, y, {x}, [x = x.value(), y](const Array& dy, Gradients& into) {
    into[0] += map([](const auto& d, const auto& v,
                      const auto& w) { return d * (Real(1) + v - w) / (Real(1) + xt::exp(-v)); },
                   dy, x, y);
  });
}

Tensor tanh(const Tensor& x) {
  OpScope op("tanh");
  Array y = map([](const auto& v) { return xt::tanh(v); }, x.value());
  return record(op, y, {x}, [y](const Array& dy, Gradients& into) {
    into[0] += map([](const auto& d, const auto& t) { return d * (Real(1) - t * t); }, dy, y);
  });
}

// ---------------------------------------------------------------- by name

Tensor activate(Activation kind, const Tensor& x) {
  switch (kind) {
    case Activation::relu: return relu(x);
    case Activation::gelu: return gelu(x);
    case Activation::gelu_tanh: return gelu_tanh(x);
    case Activation::silu: return silu(x);
    case Activation::tanh: return tanh(x);
    case Activation::sigmoid: return sigmoid(x);
  }
  throw UsageError("activate: no such activation");
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
