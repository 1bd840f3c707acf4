// Adam as xtensor expressions, one line per formula: the reference of kernels/adam.
#pragma once

#include "array/xtensor.hpp"
#include "kernels/adam.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The same step for one-axis xtensors of any scalar.
template <class X, class Gradient>
void adam_reference(const AdamStep& s, X& p, const Gradient& g, X& m, X& v) {
  using Scalar = typename X::value_type;
  const auto of = [](Real number) { return static_cast<Scalar>(number); };
  p *= of(s.shrink);
  const X slope = g + of(s.decay) * p;
  m += of(s.first_weight) * (slope - m);
  v = of(s.second_keep) * v + of(s.second_weight) * slope * slope;
  p -= of(s.step_size) * m / (xt::sqrt(v) / of(s.root_correction) + of(s.epsilon));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
