// HeadShare: the parameters of one head, whatever the layout stores them in.
#pragma once

#include <map>

#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Copies of a head's blocks, by part: query, key and value [D, C], their biases [D], output [C,
/// D]. Blocks of a group of heads are in the share of each of them; regrow() uses them if the whole
/// group was gone, from the first head of those that come back. Blocks that all heads of a layout
/// share are in no head's share.
struct HeadShare {
  HeadId head;
  std::map<HeadPart, Array> value;
  std::map<HeadPart, Array> gradient;  // of the parameters that have one
};

/// The scalar product <W, dL/dW> of a block with its gradient, in double; 0 without one. A factor
/// that multiplies nothing but this block has this derivative at 1, because L depends on their
/// product only (Euler's identity).
double scaling_gradient(const HeadShare& share, HeadRole role);

/// The share of a live head. Throws UsageError for a head that is not alive.
HeadShare share_of(const NamedAttention& attention, Index head);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
