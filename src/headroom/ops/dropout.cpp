// Dropout on the tape, and the step whose masks are drawn.
#include "headroom/ops/dropout.hpp"

#include <fmt/format.h>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "kernels/dropout.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
thread_local std::uint64_t current_seed = 0, current_step = 0;
thread_local bool step_is_open = false;
}  // namespace

RandomStep::RandomStep(std::uint64_t seed, std::uint64_t step)
    : seed_before_(current_seed), step_before_(current_step), active_before_(step_is_open) {
  current_seed = seed;
  current_step = step;
  step_is_open = true;
}

RandomStep::~RandomStep() {
  current_seed = seed_before_;
  current_step = step_before_;
  step_is_open = active_before_;
}

MaskStream mask_stream(std::uint64_t module, Index head) {
  if (!step_is_open) {
    throw UsageError(
        "dropout: no training step is open, so every step would drop the same elements; open a "
        "RandomStep(seed, step) around the forward pass");
  }
  return MaskStream(current_seed, current_step, module, head);
}

// y = x m / (1 - p) with a mask m of zeros and ones, so dx = dy m / (1 - p): the same function,
// which draws the same mask again.
Tensor dropout(const Tensor& x, Real p, const MaskStream& stream) {
  OpScope op("dropout");
  if (!(p >= 0 && p <= 1)) {
    throw UsageError(fmt::format("dropout: p = {} is not a probability; it must be in [0, 1]", p));
  }
  if (p == 0) return x;
  Array y(x.shape());
  kernels::dropout(x.value().data(), x.size(), p, stream, false, y.data());
  return record(op, y, {x}, [p, stream](const Array& dy, Gradients& into) {
    const auto [dx, add] = into[0].write_or_add();
    kernels::dropout(dy.data(), dy.size(), p, stream, add, dx.data());
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
