// Initialisation of weights.
#include "headroom/nn/init.hpp"

#include <cmath>

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
thread_local int without_draws = 0;
}  // namespace

NoInit::NoInit() { ++without_draws; }
NoInit::~NoInit() { --without_draws; }

Array xavier_uniform(const Shape& shape, Index fan_in, Index fan_out, Rng& rng) {
  if (without_draws > 0) return Array(shape);
  const Real bound = std::sqrt(Real(6) / Real(fan_in + fan_out));
  Array weight(shape);
  for (Real& w : weight.span()) w = rng.uniform(-bound, bound);
  return weight;
}

Array normal(const Shape& shape, Real deviation, Rng& rng) {
  if (without_draws > 0) return Array(shape);
  Array weight(shape);
  for (Real& w : weight.span()) {
    w = Real(float(deviation * rng.normal()));
  }
  return weight;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
