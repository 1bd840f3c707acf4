// The effect of one head with a far larger gradient on the updates of the others. Private.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "headroom/optim/optimizer.hpp"
#include "lab/head_shares.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Factor on the gradient of the scaled head, head 0.
inline constexpr double gradient_factor = 100;

using OptimizerMaker = std::function<std::unique_ptr<Optimizer>(Module&)>;

/// A training rule: an optimizer, and clipping if there is any.
struct TrainingRule {
  std::string name;
  OptimizerMaker make;
  double rate;
  /// Called between backward pass and step, for both copies; may be empty.
  std::function<void(Attention& unscaled, Attention& scaled)> clip = {};
};

/// The steps in which head 0's gradient is scaled.
enum class Scaled { at_the_end, always };

/// Trains two copies of a layer (without biases: the gradient of the key bias is only rounding
/// noise) for the same ten steps on Imitation and one more. The gradients are the same, except that
/// head 0's are multiplied by `gradient_factor` in the second copy, in the last step or in all
/// steps.
struct ScaledHead {
  HeadShares unscaled, scaled;  // changes by the last step (or by all steps) in each copy

  /// The size of a head's update divided by that in the unscaled copy.
  double ratio(Index head) const;
  /// The mean ratio of the other heads.
  double others_ratio() const;
  /// Returns true if all other heads' updates are bitwise equal.
  bool others_unchanged() const;
  /// The same for the other heads' blocks of one role.
  bool others_unchanged(HeadRole role) const;
  Index heads() const { return std::ssize(unscaled); }
};

ScaledHead with_scaled_head(Layout layout, Index width, Index heads, std::uint64_t seed,
                            const TrainingRule& rule, Scaled when);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
