// HeadShare: the parameters of one head, whatever the layout stores them in.
#pragma once

#include <map>

#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Copies of a head's blocks, by role: query, key and value [D, C], their biases [D], output [C,
/// D].
struct HeadShare {
  HeadId head;
  std::map<HeadRole, Array> value;
};

/// The share of a live head. Throws UsageError for a head that is not alive.
HeadShare share_of(const NamedAttention& attention, Index head);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
