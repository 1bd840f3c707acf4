// Arithmetic and elementwise functions, with broadcasting.
#include "headroom/ops/arithmetic.hpp"

#include <cmath>

#include "array/map.hpp"
#include "headroom/autograd/tape.hpp"
#include "kernels/broadcast.hpp"
#include "kernels/reduce.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

// ---------------------------------------------------------------- two tensors
// The gradient of an input that was repeated is summed back to the input's shape.

Tensor operator+(const Tensor& a, const Tensor& b) {
  OpScope op("add");
  const Shape shape = broadcast(op.name(), a.shape(), b.shape());
  Array y = broadcast_map(
      shape, [](Real u, Real v) { return u + v; }, a.value(), b.value());
  return record(op, y, {a, b},
                [a_shape = a.shape(), b_shape = b.shape()](const Array& dy, Gradients& into) {
                  if (into[0].wanted()) into[0] += sum_to(dy, a_shape);
                  if (into[1].wanted()) into[1] += sum_to(dy, b_shape);
                });
}

Tensor operator-(const Tensor& a, const Tensor& b) {
  OpScope op("subtract");
  const Shape shape = broadcast(op.name(), a.shape(), b.shape());
  Array y = broadcast_map(
      shape, [](Real u, Real v) { return u - v; }, a.value(), b.value());
  return record(op, y, {a, b},
                [a_shape = a.shape(), b_shape = b.shape()](const Array& dy, Gradients& into) {
                  if (into[0].wanted()) into[0] += sum_to(dy, a_shape);
                  if (into[1].wanted()) {
                    into[1] += map([](const auto& d) { return -d; }, sum_to(dy, b_shape));
                  }
                });
}

Tensor operator*(const Tensor& a, const Tensor& b) {
  OpScope op("multiply");
  const Shape shape = broadcast(op.name(), a.shape(), b.shape());
  const auto product = [](Real u, Real v) { return u * v; };
  Array y = broadcast_map(shape, product, a.value(), b.value());
  return record(op, y, {a, b},
                [a = a.value(), b = b.value(), product](const Array& dy, Gradients& into) {
                  if (into[0].wanted()) {
                    into[0] += sum_to(broadcast_map(dy.shape(), product, dy, b), a.shape());
                  }
                  if (into[1].wanted()) {
                    into[1] += sum_to(broadcast_map(dy.shape(), product, dy, a), b.shape());
                  }
                });
}

Tensor operator/(const Tensor& a, const Tensor& b) {
  OpScope op("divide");
  const Shape shape = broadcast(op.name(), a.shape(), b.shape());
  const auto quotient = [](Real u, Real v) { return u / v; };
  Array y = broadcast_map(shape, quotient, a.value(), b.value());
  // d(a/b) = da / b - (a/b) db / b
  return record(
      op, y, {a, b},
      [a_shape = a.shape(), b = b.value(), y, quotient](const Array& dy, Gradients& into) {
        if (into[0].wanted()) {
          into[0] += sum_to(broadcast_map(dy.shape(), quotient, dy, b), a_shape);
        }
        if (into[1].wanted()) {
          const auto by_divisor = [](Real d, Real q, Real v) { return -d * q / v; };
          into[1] += sum_to(broadcast_map(dy.shape(), by_divisor, dy, y, b), b.shape());
        }
      });
}

namespace {

/// maximum and minimum: `wins(u, v)` is true when u is taken. The gradient of a tie is shared
/// equally.
template <class Wins>
Tensor extreme_of_two(const OpScope& op, const Tensor& a, const Tensor& b, Wins wins) {
  const Shape shape = broadcast(op.name(), a.shape(), b.shape());
  // u != u: a NaN on either side is returned.
  const auto choose = [wins](Real u, Real v) { return wins(u, v) || u != u ? u : v; };
  const auto share = [wins](Real d, Real mine, Real other) {
    return wins(mine, other) ? d : mine == other ? d * Real(0.5) : Real(0);
  };
  Array y = broadcast_map(shape, choose, a.value(), b.value());
  return record(op, y, {a, b},
                [a = a.value(), b = b.value(), share](const Array& dy, Gradients& into) {
                  if (into[0].wanted()) {
                    into[0] += sum_to(broadcast_map(dy.shape(), share, dy, a, b), a.shape());
                  }
                  if (into[1].wanted()) {
                    into[1] += sum_to(broadcast_map(dy.shape(), share, dy, b, a), b.shape());
                  }
                });
}

}  // namespace

Tensor maximum(const Tensor& a, const Tensor& b) {
  OpScope op("maximum");
  return extreme_of_two(op, a, b, [](Real u, Real v) { return u > v; });
}

Tensor minimum(const Tensor& a, const Tensor& b) {
  OpScope op("minimum");
  return extreme_of_two(op, a, b, [](Real u, Real v) { return u < v; });
}

Tensor where(const Bytes& condition, const Tensor& a, const Tensor& b) {
  OpScope op("where");
  const Shape shape =
      broadcast(op.name(), broadcast(op.name(), condition.shape(), a.shape()), b.shape());
  const auto choose = [](std::uint8_t c, Real u, Real v) { return c != 0 ? u : v; };
  Array y = broadcast_map(shape, choose, condition, a.value(), b.value());
  return record(
      op, y, {a, b},
      [condition, a_shape = a.shape(), b_shape = b.shape()](const Array& dy, Gradients& into) {
        if (into[0].wanted()) {
          const auto taken = [](std::uint8_t c, Real d) { return c != 0 ? d : Real(0); };
          into[0] += sum_to(broadcast_map(dy.shape(), taken, condition, dy), a_shape);
        }
        if (into[1].wanted()) {
          const auto taken = [](std::uint8_t c, Real d) { return c != 0 ? Real(0) : d; };
          into[1] += sum_to(broadcast_map(dy.shape(), taken, condition, dy), b_shape);
        }
      });
}

// ---------------------------------------------------------------- a tensor and a number

Tensor operator-(const Tensor& x) {
  OpScope op("negate");
  Array y = map([](const auto& v) { return -v; }, x.value());
  return record(op, y, {x}, [](const Array& dy, Gradients& into) {
    into[0] += map([](const auto& d) { return -d; }, dy);
  });
}

Tensor operator+(const Tensor& a, Real b) {
  OpScope op("add_number");
  Array y = map([b](const auto& v) { return v + b; }, a.value());
  return record(op, y, {a}, [](const Array& dy, Gradients& into) { into[0] += dy; });
}

Tensor operator*(const Tensor& a, Real b) {
  OpScope op("scale");
  Array y = map([b](const auto& v) { return v * b; }, a.value());
  return record(op, y, {a}, [b](const Array& dy, Gradients& into) {
    into[0] += map([b](const auto& d) { return d * b; }, dy);
  });
}

Tensor operator-(Real a, const Tensor& b) {
  OpScope op("subtract_from_number");
  Array y = map([a](const auto& v) { return a - v; }, b.value());
  return record(op, y, {b}, [](const Array& dy, Gradients& into) {
    into[0] += map([](const auto& d) { return -d; }, dy);
  });
}

Tensor operator/(const Tensor& a, Real b) {
  OpScope op("divide_by_number");
  Array y = map([b](const auto& v) { return v / b; }, a.value());
  return record(op, y, {a}, [b](const Array& dy, Gradients& into) {
    into[0] += map([b](const auto& d) { return d / b; }, dy);
  });
}

Tensor operator/(Real a, const Tensor& b) {
  OpScope op("divide_number");
  Array y = map([a](const auto& v) { return a / v; }, b.value());
  return record(op, y, {b}, [b = b.value(), y](const Array& dy, Gradients& into) {
    into[0] +=
        map([](const auto& d, const auto& q, const auto& v) { return -d * q / v; }, dy, y, b);
  });
}

Tensor operator+(Real a, const Tensor& b) { return b + a; }
Tensor operator-(const Tensor& a, Real b) { return a + (-b); }
Tensor operator*(Real a, const Tensor& b) { return b * a; }

// ---------------------------------------------------------------- functions of one tensor

Tensor exp(const Tensor& x) {
  OpScope op("exp");
  Array y = map([](const auto& v) { return xt::exp(v); }, x.value());
  return record(op, y, {x}, [y](const Array& dy, Gradients& into) {
    into[0] += map([](const auto& d, const auto& e) { return d * e; }, dy, y);
  });
}

Tensor log(const Tensor& x) {
  OpScope op("log");
  Array y = map([](const auto& v) { return xt::log(v); }, x.value());
  return record(op, y, {x}, [x = x.value()](const Array& dy, Gradients& into) {
    into[0] += map([](const auto& d, const auto& v) { return d / v; }, dy, x);
  });
}

Tensor sqrt(const Tensor& x) {
  OpScope op("sqrt");
  Array y = map([](const auto& v) { return xt::sqrt(v); }, x.value());
  return record(op, y, {x}, [y](const Array& dy, Gradients& into) {
    into[0] += map([](const auto& d, const auto& root) { return d / (root * Real(2)); }, dy, y);
  });
}

Tensor pow(const Tensor& x, Real exponent) {
  OpScope op("pow");
  const auto power = [exponent](Real v) { return std::pow(v, exponent); };
  Array y = broadcast_map(x.shape(), power, x.value());
  return record(op, y, {x}, [x = x.value(), exponent](const Array& dy, Gradients& into) {
    const auto slope = [exponent](Real d, Real v) {
      if (exponent == Real(0)) return Real(0);  // also at x = 0, where x^-1 is infinite
      return d * exponent * std::pow(v, exponent - Real(1));
    };
    into[0] += broadcast_map(dy.shape(), slope, dy, x);
  });
}

Tensor abs(const Tensor& x) {
  OpScope op("abs");
  Array y = map([](const auto& v) { return xt::abs(v); }, x.value());
  return record(op, y, {x}, [x = x.value()](const Array& dy, Gradients& into) {
    const auto signed_by = [](Real d, Real v) { return v > 0 ? d : v < 0 ? -d : Real(0); };
    into[0] += broadcast_map(dy.shape(), signed_by, dy, x);
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
