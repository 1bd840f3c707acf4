// TrainData: the examples of a run, for a model of its own or for one of a folder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "headroom/data/task.hpp"
#include "headroom_runs/records/head_lives.hpp"
#include "headroom_runs/runs/folder_run.hpp"
#include "headroom_runs/runs/training_settings.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The examples of a run.
class TrainData {
 public:
  /// Reads them. Throws what TrainingSettings::make_task(), require_examples() and
  /// learner_of_folder() throw.
  explicit TrainData(const TrainingSettings& settings);

  /// Lines about them for people.
  std::string text() const;
  /// How many examples are for training; nothing for windows that are drawn at random.
  std::optional<Index> train_examples() const;
  /// The configuration of the model that learns them. Throws as TrainingSettings::config_for().
  ModelConfig config_for(const TrainingSettings& settings) const;
  /// An example whose maps the page shows, if the task has one.
  std::optional<FixedExample> example() const;
  /// The learner, once.
  std::unique_ptr<Learner> learner(const TrainingSettings& settings) &&;

 private:
  std::variant<Task, FolderLearner> data_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
