// Heads and their attention maps as records, in the form that pages take.
#pragma once

#include "headroom/base/head_id.hpp"
#include "headroom/base/record.hpp"
#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// {"kind": "cross", "layer": 0, "head": 3}
Record head_record(const HeadId& head);

/// head_record() of every live head with its "rows": the weights of the first example that the
/// probe saw, a row per query, with four decimals.
Record map_records(Module& model, const HeadProbe& probe);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
