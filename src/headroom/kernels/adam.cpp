// Adam, one pass over memory: four streams read, three written.
#include "kernels/adam.hpp"

#include <algorithm>
#include <cmath>

#include "headroom/base/parallel.hpp"
#include "kernels/fetch_ahead.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

AdamStep adam_step(double rate, double beta1, double beta2, double epsilon, double weight_decay,
                   bool decoupled, std::int64_t t) {
  const double steps = double(t);
  AdamStep step;
  if (decoupled) {
    step.shrink = Real(1 - rate * weight_decay);
  } else {
    step.decay = Real(weight_decay);
  }
  step.first_weight = Real(1 - beta1);
  step.second_keep = Real(beta2);
  step.second_weight = Real(1 - beta2);
  step.root_correction = Real(std::sqrt(1 - std::pow(beta2, steps)));
  step.epsilon = Real(epsilon);
  step.step_size = Real(rate / (1 - std::pow(beta1, steps)));
  return step;
}

void adam(const AdamStep& step, Index n, Real* p, const Real* g, Real* m, Real* v) {
  const AdamStep s = step;                             // a local copy cannot alias the arrays
  const bool near_start = s.first_weight < Real(0.5);  // lerp goes from the nearer end
  constexpr Index block = 64;                          // elements that are prefetched together
  parallel_for(n, 16384, [=](Index begin, Index end) {
    for (Index first = begin; first < end; first += block) {
      const Index last = std::min(end, first + block);
      kernels::fetch_ahead(g + first, block);
      for (Real* const written : {p, m, v})
        kernels::fetch_ahead<kernels::Fetch::to_write>(written + first, block);
#pragma omp simd
      for (Index i = first; i < last; ++i) {
        const Real decayed = p[i] * s.shrink;
        const Real slope = g[i] + s.decay * decayed;
        const Real apart = slope - m[i];
        m[i] =
            near_start ? m[i] + s.first_weight * apart : slope - apart * (Real(1) - s.first_weight);
        v[i] = v[i] * s.second_keep + s.second_weight * slope * slope;
        const Real scale = std::sqrt(v[i]) / s.root_correction + s.epsilon;
        p[i] = decayed - s.step_size * m[i] / scale;
      }
    }
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
