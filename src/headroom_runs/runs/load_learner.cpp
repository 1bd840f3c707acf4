// A trained model with its task's data.
#include "headroom_runs/runs/load_learner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/io/tensor_file.hpp"
#include "headroom/train/checkpoint.hpp"
#include "headroom_runs/runs/folder_run.hpp"
#include "headroom_runs/runs/manifest.hpp"
#include "headroom_runs/runs/run_folder.hpp"
#include "headroom_runs/runs/training_settings.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

void require_known_task(const Record& config, const std::string& origin) {
  const Record::json_pointer name("/task/name");
  if (!config.contains(name) || !config[name].is_string()) return;
  const std::vector<TaskInfo> known = task_list();
  if (std::any_of(known.begin(), known.end(),
                  [&](const TaskInfo& info) { return config[name] == info.name; })) {
    return;
  }
  throw FileError(
      fmt::format("{}: the task \"{}\" is not one of this program's: the run was made by a program "
                  "with a task of its own; use that program",
                  origin, config[name].get<std::string>()));
}

std::unique_ptr<Learner> load_learner(const std::filesystem::path& path) {
  const std::filesystem::path checkpoint = checkpoint_of(path);
  const std::filesystem::path folder = folder_of(path);
  if (!std::filesystem::exists(folder / "config.json")) {
    throw FileError(
        fmt::format("{}: is no checkpoint of a run: the config.json of one is missing in {}",
                    checkpoint.string(), folder.string()));
  }
  const RunFolder run(folder, IfExists::resume);
  const Record config_file = run.read_config();
  if (!config_file.contains("task")) {
    throw FileError(
        fmt::format(
            "{}: it names no task, so its data cannot be made again; name a run of \"train\", "
            "not one of \"demo\"",
            run.config().string()),
        {"model"});
  }
  require_known_task(config_file, run.config().string());
  const TrainingSettings settings =
      TrainingSettings::from_record(config_file, run.config().string());
  const TensorFile file = read_checkpoint(checkpoint);
  check_plausible(settings.model, file, run.config().string() + ": \"model\"");
  require_its_data(file, settings.data_files());
  if (!settings.folder.empty()) {
    std::unique_ptr<Learner> learner = learner_of_folder(settings).learner;
    const Record about = StateReader(file).record("about");
    require_same_weights(about, learner->about(), checkpoint.string());
    ModelState(learner->model()).load_state(StateReader(file, "model."));
    return learner;
  }
  Task task = settings.make_task();
  const ModelConfig config = settings.config_for(task);
  std::unique_ptr<Learner> learner = make_learner(std::move(task), config, settings.learner);
  ModelState(learner->model()).load_state(StateReader(file, "model."));
  return learner;
}

std::uint64_t seed_of_run(const std::filesystem::path& path) {
  const RunFolder run(folder_of(path), IfExists::resume);
  return TrainingSettings::from_record(run.read_config(), run.config().string()).data.seed;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
