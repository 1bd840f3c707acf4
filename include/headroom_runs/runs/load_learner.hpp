// A trained model with its task's data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "headroom/base/record.hpp"
#include "headroom/train/learner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Throws FileError unless this program knows the task of a run, whose config.json `origin` is:
/// other programs have tasks of their own.
void require_known_task(const Record& config, const std::string& origin);

/// The learner of a run of TrainingRun. The path is the run's folder, for the model of its best
/// evaluation, or of its last step if there is none; or one of its checkpoints. The task's data is
/// made or read anew, so its examples are those of the run. Throws FileError for a folder without
/// config.json or checkpoint, and what make_task() throws.
std::unique_ptr<Learner> load_learner(const std::filesystem::path& path);

/// The seed of the run that a path is of, as for load_learner(). What is drawn to measure a run is
/// drawn with it: several runs with the same draws would hide the chance of a draw. Throws
/// FileError for a folder without config.json.
std::uint64_t seed_of_run(const std::filesystem::path& path);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
