// Two copies of a layer, in one of which a head has a far larger gradient.
#include "lab/loud_head.hpp"

#include "headroom/heads/transplant.hpp"
#include "lab/imitation.hpp"
#include "lab/numbers.hpp"
#include "lab/twin_layouts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

double LoudHead::ratio(Index head) const {
  return norm_of_head(loud, head) / norm_of_head(ordinary, head);
}

double LoudHead::quiet_ratio() const {
  double sum = 0;
  for (Index head = 1; head < heads(); ++head) sum += ratio(head);
  return sum / double(heads() - 1);
}

bool LoudHead::quiet_is_untouched() const {
  for (Index head = 1; head < heads(); ++head) {
    if (!(largest_difference(ordinary, loud, head) == 0)) return false;
  }
  return true;
}

bool LoudHead::quiet_is_untouched(HeadRole role) const {
  for (Index head = 1; head < heads(); ++head) {
    if (!(largest_difference(ordinary.at({role, head}), loud.at({role, head})) == 0)) return false;
  }
  return true;
}

Index LoudHead::heads() const { return ordinary.rbegin()->first.second + 1; }

LoudHead with_loud_head(Layout layout, Index width, Index heads, std::uint64_t seed,
                        const TrainingRule& rule, Loud when) {
  constexpr Index steps_before = 10;
  const Imitation task(width, heads, seed, false);
  Rng rng(seed, "loud head");
  const auto start =
      make_attention(Layout::separate, {.width = width, .heads = heads, .bias = false}, rng);
  std::unique_ptr<Attention> copies[2];
  std::unique_ptr<Optimizer> optimizers[2];
  HeadBlocks before[2], changes[2];
  for (int i = 0; i < 2; ++i) {
    copies[i] = same_heads(*start, layout);
    optimizers[i] = rule.make(*copies[i]);
    before[i] = head_values(*copies[i]);
  }
  for (Index step = 0; step <= steps_before; ++step) {
    imitation_gradients(*copies[0], task.batch(step));
    transplant_gradients(*copies[0], *copies[1]);
    if (when == Loud::always || step == steps_before) {
      scale_gradient(*copies[1], 0, Real(loudness));
    }
    if (rule.clip) rule.clip(*copies[0], *copies[1]);
    for (int i = 0; i < 2; ++i) {
      if (step == steps_before && when == Loud::at_the_end) before[i] = head_values(*copies[i]);
      optimizers[i]->step(rule.rate);
    }
  }
  for (int i = 0; i < 2; ++i) changes[i] = change(before[i], head_values(*copies[i]));
  return {changes[0], changes[1]};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
