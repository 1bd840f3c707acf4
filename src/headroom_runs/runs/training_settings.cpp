// The task of a run, and the settings that follow from others.
#include "headroom_runs/runs/training_settings.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Task TrainingSettings::make_task() const {
  add_table_tasks();
  if (is_table_task(task)) return hold_out(make_table_task(task, data, table), fold);
  return hold_out(HEADROOM_PRECISION::make_task(task, data), fold);
}

std::vector<std::filesystem::path> TrainingSettings::data_files() const {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& file : {data.data, table.validation, table.test}) {
    if (!file.empty()) files.push_back(file);
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
