// Settings and learners of runs that begin with a model folder.
#include "headroom_runs/runs/folder_run.hpp"

#include <fmt/format.h>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/checksums.hpp"
#include "headroom/io/json.hpp"
#include "headroom_foreign/learning/folder_learner.hpp"
#include "headroom_runs/tables/table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

FolderObjective objective_of(const std::string& task) {
  if (const auto found = folder_objective(task)) return *found;
  throw UsageError(fmt::format("task {} is not one of a model folder; those have {}", task,
                               names_of<FolderObjective>()),
                   {"task"});
}

/// Throws FileError unless the folder's configuration is that of the settings, whose rates of
/// dropout and layout may be others.
void require_same_model(const ModelFolder& folder, const ModelConfig& wanted) {
  ModelConfig theirs = folder.config;
  theirs.block.layout = wanted.block.layout;
  theirs.block.dropout = wanted.block.dropout;
  theirs.block.attention_dropout = wanted.block.attention_dropout;
  theirs.block.hidden_dropout = wanted.block.hidden_dropout;
  theirs.variant.embedding_dropout = wanted.variant.embedding_dropout;
  theirs.variant.output_dropout = wanted.variant.output_dropout;
  if (folder.new_head) theirs.target_vocabulary = wanted.target_vocabulary;
  const auto difference = first_difference(theirs.to_record(), wanted.to_record());
  if (!difference) return;
  throw FileError(fmt::format("{}: \"{}\" is {}, but the run has {}; it began with another model",
                              folder.path.string(), difference->key, difference->first,
                              difference->second));
}

/// The checksum of the folder's tensors.
std::string weights_of(const ModelFolder& folder) {
  std::string all;
  for (const TensorReader& file : folder.tensors.files()) all += checksum(read_file(file.origin()));
  return checksum(all);
}

}  // namespace

RunSettings usual_folder_settings(const std::filesystem::path& folder, const std::string& task) {
  const std::string name =
      task.empty() ? usual_folder_task(open_model_folder(folder).config.kind) : task;
  // The classes of a new head are those of the data, which are not read here.
  const ModelFolder opened = open_folder_for(folder, objective_of(name), {"", ""});
  RunSettings settings = usual_settings(name);
  TrainingSettings& s = settings.training;
  s.folder = std::filesystem::absolute(folder).lexically_normal();
  s.model = opened.config;
  s.model.block.layout = Layout::fused;
  s.learner.batch_size = 16;
  s.learner.label_smoothing = 0;
  s.learner.length = std::min(Index(128), opened.config.longest);
  s.steps = 500;
  s.rate = {.shape = RateShape::linear, .peak = 5e-5, .warmup = 50};
  s.optimizer = {};
  s.evaluate_every = s.save_every = 100;
  s.derive();
  return settings;
}

std::optional<RunSettings> settings_with_folder(const GivenSettings& all,
                                                const SettingNames& shown) {
  const auto from = all.find("from"), task = all.find("task");
  if (from == all.end() || !from->second.is_string()) return {};
  const auto folder = from->second.get<std::string>();
  if (!is_model_folder(folder)) return {};
  if (const auto moments = all.find("moments"); moments != all.end() && moments->second == "keep") {
    throw UsageError(fmt::format("{} keep: a model folder has no moments", shown("moments")));
  }
  for (const auto& [name, reason] :
       {std::pair("fold", "the data of a model folder are divided once"),
        std::pair("longest", "texts are cut to a length of tokens")}) {
    if (all.contains(name)) throw UsageError(fmt::format("{}: {}", shown(name), reason));
  }
  GivenSettings given = all;
  given.erase("from");  // config.json has the folder at a place of its own
  given.erase("moments");
  RunSettings settings = settings_of(
      given, shown,
      usual_folder_settings(folder, task == all.end() ? "" : task->second.get<std::string>()));
  ModelConfig& model = settings.training.model;
  if (given.contains("dropout")) set_dropout(model, model.block.dropout);
  return settings;
}

FolderLearner learner_of_folder(const TrainingSettings& settings) {
  if (!is_model_folder(settings.folder)) {
    throw FileError(
        fmt::format("{}: the model folder that the run began with is gone; put it there again",
                    settings.folder.string()));
  }
  for (const std::filesystem::path& file : settings.data_files()) require_narrow_encoding(file);
  const FolderObjective objective = objective_of(settings.task);
  const bool new_head =
      objective == FolderObjective::classify && needs_new_classifier(settings.folder);
  if (new_head && settings.table.shares.train == 0) {
    throw UsageError(fmt::format("{}: the model has no classifier yet; training for the task "
                                 "classify gives it one",
                                 settings.folder.string()),
                     {"task"});
  }
  std::vector<std::string> classes;
  if (new_head) {
    // A run that begins with another one has the classes of its model.
    classes = settings.vocabulary.contains("classes")
                  ? settings.vocabulary["classes"].get<std::vector<std::string>>()
                  : labels_of_table(settings.data, settings.table, settings.folder);
  }
  const auto folder =
      std::make_shared<const ModelFolder>(open_folder_for(settings.folder, objective, classes));
  require_same_model(*folder, settings.model);
  FolderData data = read_folder_data(*folder, objective, settings.data, settings.table,
                                     settings.learner.length, classes);
  data.task.about["weights"] = weights_of(*folder);
  const Layout layout = settings.model.block.layout;
  const auto examples = std::ssize(data.task.train);
  ModelConfig wanted = settings.model;
  wanted.target_vocabulary = folder->config.target_vocabulary;
  std::unique_ptr<Module> model = folder->load(wanted, settings.learner.seed);
  model->train();
  return {make_folder_learner(std::move(data.task), std::move(model), settings.learner,
                              [folder, layout] { return folder->load(layout); }),
          std::move(data.text), examples};
}

std::optional<ModelFolder> folder_of_run(const SavedModel& saved) {
  if (!saved.about.is_object() || !saved.about.contains("folder")) return {};
  const std::filesystem::path folder = json_text(saved.about, "folder", saved.origin);
  if (!is_model_folder(folder)) {
    throw FileError(
        fmt::format("{}: the model folder {}, with which the run began, is gone; put "
                    "it there again",
                    saved.origin, folder.string()));
  }
  return open_folder_for(folder, objective_of(json_text(saved.about, "name", saved.origin)),
                         classes_of(saved));
}

void set_dropout(ModelConfig& config, Real rate) {
  config.block.dropout = rate;
  for (auto* other : {&config.block.attention_dropout, &config.variant.embedding_dropout,
                      &config.variant.output_dropout}) {
    if (*other) *other = rate;
  }
  if (config.block.hidden_dropout && *config.block.hidden_dropout > 0) {
    config.block.hidden_dropout = rate;
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
