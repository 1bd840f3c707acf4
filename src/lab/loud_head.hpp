// The effect of one head with a far larger gradient on the updates of the others. Private.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "headroom/optim/optimizer.hpp"
#include "lab/head_blocks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Factor by which the gradient of the loud head, head 0, is larger.
inline constexpr double loudness = 100;

using OptimizerMaker = std::function<std::unique_ptr<Optimizer>(Module&)>;

/// A training rule: an optimizer, and clipping if there is any.
struct TrainingRule {
  std::string name;
  OptimizerMaker make;
  double rate;
  /// Called between backward pass and step, for both copies; may be empty.
  std::function<void(Attention& ordinary, Attention& loud)> clip = {};
};

/// The steps in which head 0 is loud.
enum class Loud { at_the_end, always };

/// Trains two copies of a layer (without biases: the gradient of the key bias is only rounding
/// noise) for the same ten steps on Imitation and one more. The gradients are the same, except that
/// head 0's are `loudness` times larger in the second copy, in the last step or in all of them.
struct LoudHead {
  HeadBlocks ordinary, loud;  // changes by the last step (or by all steps) in each copy

  /// The size of a head's update over that in the ordinary copy.
  double ratio(Index head) const;
  /// The mean ratio of the other heads.
  double quiet_ratio() const;
  /// Returns true if all other heads' updates are bitwise equal.
  bool quiet_is_untouched() const;
  /// The same for the other heads' blocks of one role.
  bool quiet_is_untouched(HeadRole role) const;
  Index heads() const;
};

LoudHead with_loud_head(Layout layout, Index width, Index heads, std::uint64_t seed,
                        const TrainingRule& rule, Loud when);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
