// Runs that end early, begin with the checkpoint of another run, or lack heads from the start.
#include "cli/train/train_branch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"
#include "headroom/io/stateful.hpp"
#include "headroom_runs/runs/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// The settings of data, model and training that a run and its trunk must share.
Record comparable(TrainingSettings settings, Index steps) {
  settings.steps = steps;
  settings.evaluate_every = settings.save_every = settings.telemetry = 0;
  settings.snapshots.clear();
  return settings.to_record();
}

}  // namespace

void require_same_beginning(const RunSettings& settings) {
  const std::string& trunk_path = settings.branch.branch;
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("--branch {}: {}", trunk_path, why));
  };
  const RunFolder trunk(trunk_path, IfExists::resume);
  if (!trunk.resumes()) refuse("the run has no checkpoint; train it first");
  const Record config = trunk.read_config();
  if (config.contains("cut")) {
    refuse("`prune` wrote this model without an optimizer; name a run of `train`");
  }
  const RunSettings theirs = RunSettings::from_record(config, trunk.config().string());
  const Record mine = comparable(settings.training, settings.training.steps),
               other = comparable(theirs.training, settings.training.steps);
  if (const auto difference = first_difference(other, mine)) {
    refuse(fmt::format("\"{}\" is {} in that run and {} in this one; they must be equal",
                       difference->key, difference->first, difference->second));
  }
  if (theirs.pruning.removes()) refuse("that run removes heads; name one that keeps all of them");
  if (theirs.pruning.drop_head != settings.pruning.drop_head) {
    refuse(fmt::format("--drop-head is {} in that run and {} in this one; they must be equal",
                       theirs.pruning.drop_head, settings.pruning.drop_head));
  }
  const TensorFile checkpoint = TensorFile::read(trunk.checkpoint());
  const Index steps = StateReader(checkpoint, "trainer.").integer("steps");
  if (steps >= settings.training.steps) {
    refuse(fmt::format("that run has done {} steps; --steps {} must be greater", steps,
                       settings.training.steps));
  }
  const PruningRecipe& pruning = settings.pruning;
  const Index first = pruning.gates ? pruning.gates->begin + 1 : first_step(pruning.pace);
  if (pruning.removes() && first <= steps) {
    refuse(fmt::format("that run has done {} steps; --prune-from {} must be greater", steps,
                       first_step(pruning.pace)));
  }
  if (theirs.branch.without != settings.branch.without) {
    refuse("--without must list the same heads as in that run");
  }
}

void begin_with_trunk(TrainingRun& run, const RunSettings& settings, const RunFolder& folder) {
  const RunFolder trunk(settings.branch.branch, IfExists::resume);
  const bool whole = !settings.pruning.removes();
  run.begin_with(trunk.checkpoint(), whole);
  const auto copy = [](const fs::path& from, const fs::path& to) {
    if (fs::exists(from)) write_file(to, read_file(from));
  };
  copy(trunk.metrics(), folder.metrics());
  if (whole) copy(trunk.best(), folder.best());
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
