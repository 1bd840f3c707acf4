// A teacher, its batches, and the gradients of a student.
#include "lab/imitation.hpp"

#include "headroom/autograd/tape.hpp"
#include "headroom/ops/losses.hpp"
#include "lab/numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Imitation::Imitation(Index width, Index heads, std::uint64_t seed, bool bias)
    : width_(width), seed_(seed) {
  Rng rng(seed, "imitation teacher");
  teacher_ = make_attention(Layout::fused, {.width = width, .heads = heads, .bias = bias}, rng);
  randomise(*teacher_, rng);
}

Imitation::Batch Imitation::batch(Index step) const {
  const NoGrad quiet;
  Rng rng(seed_, "imitation inputs", static_cast<std::uint64_t>(step));
  const Tensor x(normal({batch_size, tokens, width_}, 1, rng));
  return {x, (*teacher_)(x, x, AttentionMask::none())};
}

double imitation_gradients(Attention& student, const Imitation::Batch& batch) {
  zero_grad(student);
  const Tensor loss = squared_error(student(batch.x, batch.x, AttentionMask::none()), batch.target);
  loss.backward();
  return double(loss.item());
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
