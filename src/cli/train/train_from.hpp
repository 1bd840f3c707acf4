// Runs that begin with the weights of another one: to go on with it, or to learn other data.
#pragma once

#include <string>

#include "headroom_runs/runs/training_run.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The settings of the run that `from` is the folder or a checkpoint of, without its removal of
/// heads and its place among other runs. Of a program without a task, such as the demo: `usual`.
/// The model's sizes and vocabulary are those of the checkpoint, and the heads that it lost are
/// those of `without`. Throws FileError.
RunSettings settings_from(const std::string& from, RunSettings usual);

/// Fits what the data are read with to the vocabulary that the run begins with: kinds of symbols,
/// longest texts. Decides about the moments unless they were given. Throws UsageError if they are
/// to be kept and the run has none, or they are of another optimizer.
void fit_to_beginning(RunSettings& settings, bool moments_given);

/// Takes the weights, and says on stderr which.
void begin_with_weights(TrainingRun& run, const BranchSettings& branch);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
