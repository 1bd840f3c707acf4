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

/// How much larger the gradient of the loud head, head 0, is.
inline constexpr double loudness = 100;

using OptimizerMaker = std::function<std::unique_ptr<Optimizer>(Module&)>;

/// A training rule, which may or may not depend on neighbouring elements.
struct TrainingRule {
  std::string name;
  OptimizerMaker make;
  double rate;
  /// Between backward pass and step, for both copies; may be empty.
  std::function<void(Attention& ordinary, Attention& loud)> clip = {};
};

/// When head 0 is loud.
enum class Loud { at_the_end, always };

/// Two copies of a layer (no biases: the gradient of the key bias is rounding alone) take the same
/// ten steps on Imitation and then one more, with the same gradients, but those of head 0 are
/// `loudness` times as large in the second copy: in the last step, or in all of them.
struct LoudHead {
  HeadBlocks ordinary, loud;  // what the last step (or all of them) changed in either copy

  /// The size of a head's update over that in the ordinary copy.
  double ratio(Index head) const;
  /// The mean of this over the other heads.
  double quiet_ratio() const;
  /// Whether all other heads' updates are the same to the bit.
  bool quiet_is_untouched() const;
  /// The quiet heads' blocks of one role only, to the bit.
  bool quiet_is_untouched(HeadRole role) const;
  Index heads() const;
};

LoudHead with_loud_head(Layout layout, Index width, Index heads, std::uint64_t seed,
                        const TrainingRule& rule, Loud when);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
