// Attention maps as records of a run.
#pragma once

#include <vector>

#include "headroom/nn/attention.hpp"
#include "headroom/train/run_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The attention weights of every live head for the first example that the probe saw: a row per
/// query, with four decimals.
std::vector<MapRecord> map_records(Module& model, const HeadProbe& probe);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
