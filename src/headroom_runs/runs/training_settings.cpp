// The task of a run, and the settings that follow from others.
#include "headroom_runs/runs/training_settings.hpp"

#include <fmt/format.h>

#include "headroom/base/error.hpp"
#include "headroom_runs/tables/given_vocabulary.hpp"
#include "headroom_runs/tables/table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Task TrainingSettings::make_task() const {
  if (!folder.empty()) {
    throw UsageError(
        fmt::format("the run began with the model folder {}; its test is in summary.json, and "
                    "importance and prune measure it",
                    folder.string()),
        {"model"});
  }
  add_table_tasks();
  for (const std::filesystem::path& file : data_files()) {
    if (std::filesystem::is_directory(file)) {
      throw FileError(
          fmt::format("{}: is a folder; task {} reads one file, or standard input for "
                      "several",
                      file.string(), task));
    }
    require_narrow_encoding(file);
  }
  Task made = is_table_task(task) ? make_table_task(task, data, table)
                                  : HEADROOM_PRECISION::make_task(task, data);
  if (!vocabulary.is_null()) made = in_vocabulary(std::move(made), vocabulary, "the settings");
  return hold_out(std::move(made), fold);
}

ModelConfig TrainingSettings::config_for(const Task& for_task) const {
  ModelConfig fitted = fitted_to(for_task, model, learner);
  if (vocabulary.is_null()) return fitted;
  fitted.longest -= std::holds_alternative<TextCorpus>(for_task) ? 0 : 8;  // room for long outputs
  if (fitted.longest > model.longest) {
    throw DataError(
        fmt::format("the data have a sequence of {} tokens; the model that the run begins with "
                    "reads at most {}",
                    fitted.longest, model.longest),
        {"longest", "length"});
  }
  fitted.longest = model.longest;
  return fitted;
}

std::vector<std::filesystem::path> TrainingSettings::data_files() const {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& file : {data.data, table.validation, table.test}) {
    if (file.empty()) continue;
    if (!is_table_task(task)) {
      files.push_back(file);
      continue;
    }
    for (const std::filesystem::path& one : table_files(file)) files.push_back(one);
  }
  return files;
}

void TrainingSettings::derive() {
  learner.seed = data.seed;
  rate.steps = steps;
  data.window = learner.length;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
