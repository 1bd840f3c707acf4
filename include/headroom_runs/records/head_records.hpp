// Converts the pruning history of a run and its attention maps to records.
#pragma once

#include <string>
#include <vector>

#include "headroom/nn/attention.hpp"
#include "headroom_measure/pruning/pruning_history.hpp"
#include "headroom_runs/runs/run_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Adds to the record of a run: each head with its importance for `model`, counted from the lowest;
/// the number of live heads over the steps up to `steps`; the timeline. Does nothing if no heads
/// were chosen.
void add_history(RunRecord& run, const PruningHistory& history, const std::string& model,
                 Index steps);

/// The attention weights of every live head for the first example that the probe saw: a row per
/// query, with four decimals.
std::vector<MapRecord> map_records(Module& model, const HeadProbe& probe);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
