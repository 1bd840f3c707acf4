// Settings and weights of another run.
#include "cli/train/train_from.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/frame/streams.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/io/stateful.hpp"
#include "headroom_runs/runs/folder_run.hpp"
#include "headroom_runs/runs/load_learner.hpp"
#include "headroom_runs/runs/run_folder.hpp"
#include "headroom_runs/runs/setting.hpp"
#include "headroom_runs/tables/given_vocabulary.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// The settings in the config.json of a run of `train` or `prune`; none of another program.
std::optional<RunSettings> stored_settings(const fs::path& from) {
  const fs::path folder = folder_of(from);
  if (!fs::exists(folder / "config.json")) return {};
  const RunFolder run(folder, IfExists::resume);
  const Record config = run.read_config();
  if (!config.contains("task") || !config.contains("pruning")) return {};
  require_known_task(config, run.config().string());
  return RunSettings::from_record(config, run.config().string());
}

/// The checkpoint with the moments: the file itself, or the last one of a folder.
fs::path last_checkpoint(const fs::path& from) {
  return fs::is_directory(from) ? from / RunFolder::checkpoint_name : from;
}

/// The reason why the moments of a run cannot be kept, or "".
std::string no_moments(const RunSettings& settings, const std::optional<RunSettings>& theirs) {
  const fs::path file = last_checkpoint(settings.branch.from);
  if (!fs::exists(file)) return fmt::format("{} does not exist", file.string());
  const TensorFile tensors = TensorFile::read(file);
  if (StateReader(tensors, "optimizer.").tensor_names().empty()) {
    return fmt::format("{} has none", file.string());
  }
  if (!theirs) return "the run's settings are unknown";
  const auto of = [](const RunSettings& s) {
    const OptimizerChoice& choice = s.training.optimizer;
    return fmt::format("{} by {}", name_of(choice.kind), name_of(choice.granularity));
  };
  if (of(*theirs) == of(settings)) return "";
  return fmt::format("they are those of {}, and this run has {}", of(*theirs), of(settings));
}

/// What determines the data of a run, without what follows from the vocabulary.
Record data_of(const RunSettings& settings) {
  Record task = settings.to_record()["task"];
  for (const char* key : {"vocabulary", "symbols", "target_symbols", "least_count", "longest"}) {
    task.erase(key);
  }
  return task;
}

/// Sets what follows from the vocabulary of the model that a run begins with.
void fit_vocabulary(TrainingSettings& run, const std::string& from) {
  const bool is_pairs = run.vocabulary.contains("source");
  const auto kind_of = [&](const char* name) {
    return Vocabulary::from_record(run.vocabulary[name], from).kind();
  };
  run.table.symbols = kind_of(is_pairs ? "source" : "tokens");
  if (is_pairs) run.table.target_symbols = kind_of("target");
  run.table.least_count = 1;  // the vocabulary decides which symbols are known
  run.table.longest = std::min(run.table.longest, run.model.longest - (is_pairs ? 8 : 0));
}

}  // namespace

RunSettings settings_from(const std::string& from, RunSettings usual) {
  if (!fs::exists(from)) throw FileError(fmt::format("--from {} does not exist", from));
  RunSettings settings = stored_settings(from).value_or(std::move(usual));
  settings.branch = {};
  settings.pruning = {};
  settings.training.snapshots.clear();
  const SavedModel saved = load_model(checkpoint_of(from));
  settings.training.model = saved.config;
  settings.branch.without = saved.removed;
  if (const std::optional<ModelFolder> folder = folder_of_run(saved)) {
    settings.training.folder = folder->path;
    settings.training.vocabulary = {};
    if (folder->new_head) settings.training.vocabulary["classes"] = classes_of(saved);
    TableOptions& table = settings.training.table;
    if (table.shares == shares_to_measure) table.shares = Shares();  // a result of `prune`
    std::erase_if(settings.branch.without, [&](const HeadId& head) {
      const std::vector<HeadId>& lost = folder->removed;  // the folder's own model has them no more
      return std::find(lost.begin(), lost.end(), head) != lost.end();
    });
  } else {
    settings.training.vocabulary = vocabulary_of(saved);
  }
  return settings;
}

void fit_to_beginning(RunSettings& settings, bool moments_given) {
  TrainingSettings& run = settings.training;
  const std::string& from = settings.branch.from;
  if (run.folder.empty()) fit_vocabulary(run, from);

  const std::optional<RunSettings> theirs = stored_settings(from);
  const std::string reason = no_moments(settings, theirs);
  Moments& moments = settings.branch.moments;
  if (moments_given) {
    if (moments == Moments::keep && !reason.empty()) {
      throw UsageError("--moments keep: " + reason);
    }
    return;
  }
  const bool same = reason.empty() && data_of(*theirs) == data_of(settings);
  moments = same ? Moments::keep : Moments::fresh;
}

void begin_with_weights(TrainingRun& run, const BranchSettings& branch) {
  const bool keep = branch.moments == Moments::keep;
  const fs::path file = keep ? last_checkpoint(branch.from) : checkpoint_of(branch.from);
  run.take_weights(file, branch.moments);
  print_error("begins with the weights of {}, {}\n", shown(file.string(), stderr),
              keep ? "with their moments" : "without moments");
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
