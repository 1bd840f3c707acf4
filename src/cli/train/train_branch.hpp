// Runs that begin with the checkpoint of another run.
#pragma once

#include "headroom_runs/runs/run_settings.hpp"
#include "headroom_runs/runs/training_run.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Throws UsageError if the run of `settings` cannot begin with that of settings.branch.from:
/// there is no such run, it has other settings of data, model or training, it removes heads, or it
/// ended after the removal of heads in this run begins.
void require_same_beginning(const RunSettings& settings);

/// Begins `run`, which has all its parts, with the checkpoint of settings.branch.from, and copies
/// metrics.jsonl into the run's `folder`. A run without removal also takes over the best
/// checkpoint.
void begin_with_trunk(TrainingRun& run, const RunSettings& settings, const RunFolder& folder);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
