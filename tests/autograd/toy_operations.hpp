// Small operations for the tests of the tape, so that these do not depend on the floors above.
#pragma once

#include <cmath>

#include "headroom/autograd/tape.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

template <class F>
Array each(const Array& x, F f) {
  Array y(x.shape());
  for (Index i = 0; i < x.size(); ++i) y[i] = f(x[i]);
  return y;
}

template <class F>
Array each(const Array& a, const Array& b, F f) {
  Array y(a.shape());
  for (Index i = 0; i < a.size(); ++i) y[i] = f(a[i], b[i]);
  return y;
}

/// x * factor
inline Tensor times(const Tensor& x, Real factor) {
  const OpScope op("times");
  const auto scaled = [factor](Real v) { return v * factor; };
  return record(op, each(x.value(), scaled), {x},
                [scaled](const Array& dy, auto& into) { into[0] += each(dy, scaled); });
}

/// a + b; passes the same dy to both inputs, as operator+ does.
inline Tensor plus(const Tensor& a, const Tensor& b) {
  const OpScope op("plus");
  return record(op, each(a.value(), b.value(), [](Real u, Real v) { return u + v; }), {a, b},
                [](const Array& dy, auto& into) {
                  into[0] += dy;
                  into[1] += dy;
                });
}

/// a * b, which needs its inputs' values in the backward pass.
inline Tensor product(const Tensor& a, const Tensor& b) {
  const OpScope op("product");
  const auto multiply = [](Real u, Real v) { return u * v; };
  return record(op, each(a.value(), b.value(), multiply), {a, b},
                [multiply, a = a.value(), b = b.value()](const Array& dy, auto& into) {
                  into[0] += each(dy, b, multiply);
                  into[1] += each(dy, a, multiply);
                });
}

/// sqrt(x): NaN below 0, an infinite slope at 0.
inline Tensor root(const Tensor& x) {
  const OpScope op("root");
  const Array y = each(x.value(), [](Real v) { return std::sqrt(v); });
  return record(op, y, {x}, [y](const Array& dy, auto& into) {
    into[0] += each(dy, y, [](Real d, Real s) { return d / (2 * s); });
  });
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
