// The examples of a run.
#include "cli/train/train_data.hpp"

#include "headroom/base/require.hpp"
#include "headroom/train/checkpoint.hpp"
#include "headroom_runs/tables/table_tasks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::variant<Task, FolderLearner> read_data(const TrainingSettings& settings) {
  if (!settings.folder.empty()) {
    FolderLearner made = learner_of_folder(settings);
    require(made.train_examples > 0, "--split leaves no examples for training");
    return made;
  }
  Task task = settings.make_task();
  require_examples(task);
  return task;
}

}  // namespace

TrainData::TrainData(const TrainingSettings& settings) : data_(read_data(settings)) {}

std::string TrainData::text() const {
  if (const auto* folder = std::get_if<FolderLearner>(&data_)) return folder->data;
  return text_of_data(std::get<Task>(data_));
}

std::optional<Index> TrainData::train_examples() const {
  if (const auto* folder = std::get_if<FolderLearner>(&data_)) return folder->train_examples;
  const Task& task = std::get<Task>(data_);
  if (std::holds_alternative<TextCorpus>(task)) return {};
  return std::visit([](const auto& one) { return std::ssize(one.train); }, task);
}

ModelConfig TrainData::config_for(const TrainingSettings& settings) const {
  if (const auto* folder = std::get_if<FolderLearner>(&data_)) {
    return *config_of(folder->learner->model());
  }
  return settings.config_for(std::get<Task>(data_));
}

std::optional<FixedExample> TrainData::example() const {
  if (std::holds_alternative<FolderLearner>(data_)) return {};
  return fixed_example(std::get<Task>(data_));
}

std::unique_ptr<Learner> TrainData::learner(const TrainingSettings& settings) && {
  if (auto* folder = std::get_if<FolderLearner>(&data_)) return std::move(folder->learner);
  Task& task = std::get<Task>(data_);
  const ModelConfig config = settings.config_for(task);
  return make_learner(std::move(task), config, settings.learner);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
