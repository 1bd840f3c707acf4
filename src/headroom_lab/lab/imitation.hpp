// A small problem to train a layer on, of any size: imitate another layer. Private.
#pragma once

#include <memory>

#include "headroom/nn/attention.hpp"
#include "headroom/optim/optimizer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A teacher, one attention with weights N(0, 1/C) and biases N(0, 0.1^2), and batches of inputs
/// N(0, 1) with its outputs. All follow from the seed.
class Imitation {
 public:
  static constexpr Index batch_size = 4, tokens = 8;

  Imitation(Index width, Index heads, std::uint64_t seed, bool bias = true);

  struct Batch {
    Tensor x, target;  // [B, T, C]
  };
  /// Fresh inputs for every step.
  Batch batch(Index step) const;

 private:
  Index width_;
  std::uint64_t seed_;
  std::unique_ptr<Attention> teacher_;
};

/// Sets the gradients of the mean squared error on a batch in place of those before; returns the
/// error.
double imitation_gradients(Attention& student, const Imitation::Batch& batch);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
