// Gate gradients from the gradients of W_O, without gates in the forward pass.
#pragma once

#include <vector>

#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// dL/dg_h at g_h = 1 of every live head, in the order of live_heads(), from the gradients that a
/// backward pass left in the parameters, with y = sum_h g_h A_h W_O^h + b_O. It is <W_O^h,
/// dL/dW_O^h>: g_h and W_O^h occur only as a product, so that g_h dL/dg_h equals it by Euler's
/// identity for homogeneous functions, and no gate needs to be in the forward pass. If there was a
/// gate, it is g_h dL/dg_h. 0 for a head whose W_O has no gradient.
std::vector<double> gate_gradients(Module& model);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
