// check_layout: the laws of attention layouts, checked on a layout.
#pragma once

#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Checks whether a layout keeps the laws in CONTRIBUTING.md ("How to add an attention layout"):
///
///    1  equal calls have equal results: the attention keeps no state
///    2  it can project queries alone
///    3  decoding from a cache gives the rows of the plain call, positions included
///    4  head_slices() covers every parameter once, for any set of live heads
///    5  roles and sizes of the slices; the same parts are the same function as in FusedHeads
///    6  a slice has no effect if the gates of its heads are 0; pruning has the effect of gates of
///       0; regrowth undoes it to the bit, in values, gradients, moments and step counts
///    7  parameters of a single head go with it, and the others keep their names
///    8  the shape of the score bias, by original heads
///    9  the constructor draws the same values from the same random numbers
///   10  without live heads the output is the output bias
///   11  layout() is the value under which the class is registered
///   13  the gradients of inputs, gates and parameters are those of finite differences
///
/// The owner of an attention is responsible for law 12. `attention` does not change: the checks
/// build others of the same layout and configuration, with random parameters, and call each some
/// hundred times, so use a small configuration. Three heads or more show the most; equal widths of
/// queries, keys and values include self-attention. In float, differences are coarser: a wrong
/// gradient of less than a hundredth is found in double only. Throws UsageError with the number of
/// the first broken law: `check_layout: Attention(gated, ...) breaks law 4: ...`.
///
///   Rng rng(1, "init");
///   check_layout(*make_attention(layout, {.width = 12, .heads = 4}, rng));
void check_layout(const Attention& attention);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
