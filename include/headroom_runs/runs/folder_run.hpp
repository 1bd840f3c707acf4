// Runs that begin with a model folder of Transformers.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "headroom/train/learner.hpp"
#include "headroom_runs/runs/run_settings.hpp"
#include "headroom_runs/runs/setting.hpp"
#include "headroom_runs/tables/folder_data.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The settings that work well for a model of a folder, with the folder and its configuration. An
/// empty task is the one that the model usually has. Throws what open_folder_for() throws, and
/// UsageError for a task that models of folders do not have.
RunSettings usual_folder_settings(const std::filesystem::path& folder, const std::string& task);

/// The settings of a run whose `from` is a model folder: what is given over
/// usual_folder_settings(). Nothing if it is none. Throws what both of these and settings_of()
/// throw.
std::optional<RunSettings> settings_with_folder(const GivenSettings& given,
                                                const SettingNames& shown);

/// A learner with lines about its data for people.
struct FolderLearner {
  std::unique_ptr<Learner> learner;
  std::string data;
  Index train_examples = 0;
};

/// The learner that settings with a folder describe. Its model has the folder's weights. Throws
/// what open_folder_for() and read_folder_data() throw, and FileError for a folder that is gone or
/// has another configuration than the settings; UsageError if there is nothing to train and the
/// model needs a new head.
FolderLearner learner_of_folder(const TrainingSettings& settings);

/// The folder with which the run of a saved model began, opened as the architecture that the run
/// has; nothing for a model of headroom's own. Throws FileError if it is gone.
std::optional<ModelFolder> folder_of_run(const SavedModel& saved);

/// Sets every rate of dropout that the configuration has.
void set_dropout(ModelConfig& config, Real rate);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
