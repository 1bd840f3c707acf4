// Dropout with masks that can be computed again from (seed, step, module, head, element).
#pragma once

#include <cstdint>

#include "headroom/autograd/tensor.hpp"
#include "headroom/base/rng.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// While a RandomStep exists on this thread, dropout draws the masks of training step `step` of run
/// `seed`. Training loops open one around each forward pass.
class RandomStep {
 public:
  RandomStep(std::uint64_t seed, std::uint64_t step);
  ~RandomStep();
  RandomStep(const RandomStep&) = delete;
  RandomStep& operator=(const RandomStep&) = delete;

 private:
  std::uint64_t seed_before_, step_before_;
  bool active_before_;
};

/// The mask stream of a module (and head) at the current RandomStep. Throws UsageError without one:
/// every step would silently drop the same elements.
MaskStream mask_stream(std::uint64_t module, Index head = 0);

/// x_e kept with probability 1 - p and scaled by 1/(1 - p), else 0. Element e is kept when
/// uniform(e) >= p. p = 0 is the identity, p = 1 gives zeros. Throws UsageError for p outside [0,
/// 1]. Srivastava et al. 2014, in the inverted form. Unfused: composed::dropout.
Tensor dropout(const Tensor& x, Real p, const MaskStream& stream);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
