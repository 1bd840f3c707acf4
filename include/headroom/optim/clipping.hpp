// Clipping: scales a gradient down whose norm is above a limit.
#pragma once

#include "headroom/optim/parameter_blocks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The Euclidean norm of all gradients of a module together, in double.
double grad_norm(Module& module);

/// Scales all gradients by min(1, limit / (norm + 1e-6)) and returns the norm before. With a norm
/// that is NaN or infinite nothing is scaled. The same bits for any number of threads.
/// Pascanu et al. 2013, algorithm 1; torch.nn.utils.clip_grad_norm_. Throws UsageError for a limit
/// that is not positive.
double clip_grad_norm(Module& module, double limit);

/// The same for every block of `granularity` by itself: scales its gradient by
/// min(1, limit / (norm + 1e-6)) with its own norm, so that the direction of the whole changes.
/// Returns the largest norm before, NaN if there is one; a block whose norm is NaN or infinite
/// stays as it is. Parts without a gradient are left out. Throws UsageError for a limit that is not
/// positive. With `tensor`, a norm per tensor: torch.nn.utils.clip_grad_norm_ of each parameter
/// alone.
double clip_block_norms(Module& module, double limit, Granularity granularity);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
