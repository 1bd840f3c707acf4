// Checks the function sigmoid that this program was linked with, whoever wrote it. Stops at the
// first stage that fails: not implemented, values, gradients. Exits with 0 when all is right.
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>

#include "headroom/base/rng.hpp"
#include "headroom/ops/activations.hpp"
#include "sigmoid.hpp"

namespace {

using headroom::Array;
using headroom::Index;
using headroom::Real;
using headroom::Tensor;

constexpr Real tolerance = headroom::is_double ? Real(1e-12) : Real(1e-5);

Array random_array(const headroom::Shape& shape, headroom::Rng& rng) {
  Array array(shape);
  for (Real& value : array.span()) value = rng.normal();
  return array;
}

/// What one element of the gradient is, from x, s = sigmoid(x) and dy.
using Formula = std::function<Real(Real x, Real s, Real dy)>;

struct Diagnosis {
  const char* text;
  Formula formula;
};

const Diagnosis diagnoses[] = {
    {"dy is missing: the gradient of what comes after never gets through",
     [](Real, Real s, Real) { return s * (1 - s); }},
    {"x stands where the formula has s = sigmoid(x)",
     [](Real x, Real, Real dy) { return dy * x * (1 - x); }},
    {"the sign is flipped", [](Real, Real s, Real dy) { return -dy * s * (1 - s); }},
};

struct Case {
  Array x, s, dy;
};

/// The index where `actual` is farthest from the formula, or -1 when it agrees everywhere.
Index worst_index(const Array& actual, const Case& c, const Formula& formula) {
  Index worst = -1;
  Real largest = tolerance;
  for (Index i = 0; i < actual.size(); ++i) {
    const Real difference = std::abs(actual[i] - formula(c.x[i], c.s[i], c.dy[i]));
    if (!(difference <= largest)) {
      largest = difference;
      worst = i;
    }
  }
  return worst;
}

/// Prints the expected and the actual number and returns false when they differ somewhere.
bool agree(const char* stage, const Array& actual, const Case& c, const Formula& formula) {
  const Index i = worst_index(actual, c, formula);
  if (i < 0) return true;
  std::printf("%s: worst at element %lld, x = %g: expected %g, got %g\n", stage,
              static_cast<long long>(i), static_cast<double>(c.x[i]),
              static_cast<double>(formula(c.x[i], c.s[i], c.dy[i])),
              static_cast<double>(actual[i]));
  return false;
}

bool check(std::uint64_t seed) {
  headroom::Rng rng(seed);
  const Tensor x = headroom::parameter(random_array({3, 5}, rng));
  const Tensor s = headroom::activate(headroom::Activation::sigmoid, x);  // from inside the library
  Case c{x.value(), Array(x.shape()), random_array(x.shape(), rng)};
  for (Index i = 0; i < x.size(); ++i) c.s[i] = 1 / (1 + std::exp(-c.x[i]));
  if (!agree("values", s.value(), c, [](Real, Real value, Real) { return value; })) return false;

  s.backward(c.dy);
  const Formula right = [](Real, Real value, Real dy) { return dy * value * (1 - value); };
  if (agree("gradients", x.grad(), c, right)) return true;
  for (const Diagnosis& diagnosis : diagnoses) {
    if (worst_index(x.grad(), c, diagnosis.formula) < 0) {
      std::printf("  It looks as if %s.\n", diagnosis.text);
    }
  }
  return false;
}

}  // namespace

int main() {
  try {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      if (!check(seed)) return 1;
    }
    std::printf("sigmoid: values and gradients are right\n");
    return 0;
  } catch (const chapter::NotImplemented& missing) {
    std::printf("not implemented: %s\n", missing.what);
    return 1;
  }
}
