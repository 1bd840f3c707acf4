// Two copies of a layer, in one of which a head has a far larger gradient.
#include "lab/scaled_head.hpp"

#include "headroom/base/at.hpp"
#include "headroom/surgery/transplant.hpp"
#include "lab/imitation.hpp"
#include "lab/numbers.hpp"
#include "lab/twin_layouts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

double ScaledHead::ratio(Index head) const {
  return norm(at(scaled, head).value) / norm(at(unscaled, head).value);
}

double ScaledHead::others_ratio() const {
  double sum = 0;
  for (Index head = 1; head < heads(); ++head) sum += ratio(head);
  return sum / double(heads() - 1);
}

bool ScaledHead::others_unchanged() const {
  for (Index head = 1; head < heads(); ++head) {
    if (!(largest_difference(at(unscaled, head).value, at(scaled, head).value) == 0)) return false;
  }
  return true;
}

bool ScaledHead::others_unchanged(HeadRole role) const {
  for (Index head = 1; head < heads(); ++head) {
    const Array &was = at(unscaled, head).value.at(role), &is = at(scaled, head).value.at(role);
    if (!(largest_difference(was, is) == 0)) return false;
  }
  return true;
}

ScaledHead with_scaled_head(Layout layout, Index width, Index heads, std::uint64_t seed,
                            const TrainingRule& rule, Scaled when) {
  constexpr Index steps_before = 10;
  const Imitation task(width, heads, seed, false);
  Rng rng(seed, "loud head");  // another name would change the draws
  const auto start =
      make_attention(Layout::separate, {.width = width, .heads = heads, .bias = false}, rng);
  std::unique_ptr<Attention> copies[2];
  std::unique_ptr<Optimizer> optimizers[2];
  HeadShares before[2];
  for (int i = 0; i < 2; ++i) {
    copies[i] = same_heads(*start, layout);
    optimizers[i] = rule.make(*copies[i]);
    before[i] = shares_of(*copies[i]);
  }
  for (Index step = 0; step <= steps_before; ++step) {
    imitation_gradients(*copies[0], task.batch(step));
    transplant_gradients(*copies[0], *copies[1]);
    if (when == Scaled::always || step == steps_before) {
      scale_gradient(*copies[1], 0, Real(gradient_factor));
    }
    if (rule.clip) rule.clip(*copies[0], *copies[1]);
    for (int i = 0; i < 2; ++i) {
      if (step == steps_before && when == Scaled::at_the_end) before[i] = shares_of(*copies[i]);
      optimizers[i]->step(rule.rate);
    }
  }
  return {change(before[0], shares_of(*copies[0])), change(before[1], shares_of(*copies[1]))};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
