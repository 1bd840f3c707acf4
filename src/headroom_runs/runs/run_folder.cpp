// The folder of a run.
#include "headroom_runs/runs/run_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/checksums.hpp"
#include "headroom/io/files.hpp"
#include "headroom/io/json.hpp"
#include "headroom/io/tensor_file.hpp"
#include "headroom/nn/models.hpp"
#include "headroom_runs/runs/metrics_log.hpp"
#include "headroom_runs/runs/run_record.hpp"
#include "headroom_runs/runs/training_settings.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

constexpr const char* snapshot_folder = "snapshots";
constexpr const char* lock_name = ".lock";
constexpr const char* records_name = "records.json";

/// The name of data that a run keeps.
std::string data_name(const std::string& text, const std::string& ending) {
  return "data-" + checksum(text) + ending;
}

/// The checkpoint of a folder: its best, else its latest one.
std::optional<fs::path> checkpoint_in(const fs::path& folder) {
  for (const char* name : {RunFolder::best_name, RunFolder::checkpoint_name}) {
    if (fs::exists(folder / name)) return folder / name;
  }
  return std::nullopt;
}

bool has_all(const Record& object, std::initializer_list<const char*> keys) {
  return object.is_object() && std::all_of(keys.begin(), keys.end(),
                                           [&](const char* key) { return object.contains(key); });
}

bool is_our_record(const Record& record) {  // of a run; of the laboratory
  return has_all(record, {"title", "environment"}) ||
         (has_all(record, {"kind"}) && record["kind"].dump().starts_with("\"lab"));
}

/// The content of a file; empty if there is none that can be read.
std::string text_in(const fs::path& file) {
  try {
    return fs::is_regular_file(file) ? read_file(file) : "";
  } catch (const FileError&) {
    return {};
  }
}

/// Whether a file is one that RunFolder::keep_data() wrote and nobody changed.
bool is_kept_data(const fs::path& file) {
  return file.filename().string().starts_with("data-") &&
         file.filename() == data_name(text_in(file), file.extension().string());
}

/// The JSON of a file; null if it has none.
Record json_in(const fs::path& file) {
  try {
    return parse_json(text_in(file), file.string());
  } catch (const FileError&) {
    return {};
  }
}

/// config.json of a run or of the demo, read as strictly as a resumed run reads it.
bool is_config_of_run(const Record& config) {
  try {
    if (!has_all(config, {"learn_steps", "prune_steps", "recover_steps", "validation_examples"})) {
      TrainingSettings::from_record(config, "config.json");
      return true;
    }
    Record model = Record::object(), setup = config;
    ModelConfig::Fields::each([&](const char* key, const auto&, Presence) {
      if (setup.contains(key)) model[key] = setup[key];
      setup.erase(key);
    });
    ModelConfig::from_record(model);
    return std::all_of(setup.begin(), setup.end(), [](const Record& v) { return v.is_number(); });
  } catch (const Error&) {
    return false;
  }
}

/// Whether the first line of a log is one that MetricsLog writes.
bool is_log_of_run(const fs::path& file) {
  const std::string text = text_in(file);
  Record line;
  RunRecord run;
  try {
    line = parse_json(text.substr(0, text.find('\n')), "metrics.jsonl");
    add_log_line(line, "metrics.jsonl", run);
  } catch (const Error&) {
    return false;
  }
  if (!run.telemetry.empty() || !run.lives.empty()) return true;
  const Record written = MetricsLog::line({});
  return std::all_of(written.items().begin(), written.items().end(),
                     [&](const auto& entry) { return line.contains(entry.key()); });
}

bool is_summary_of_run(const Record& summary) {  // of `train`, of `prune`, of the demo
  return has_all(summary,
                 {"task", "seed", "parameters", "heads_alive", "best_step", "task_check"}) ||
         has_all(summary, {"before", "after", "selection_increase", "test_increase"}) ||
         has_all(summary, {"task", "seed", "heads_total", "heads_alive", "step_ms_before"});
}

/// Whether headroom wrote a file of a folder: by its content or, for what a run writes beside its
/// config.json, by that. A file of tensors that says something else is another program's.
bool is_ours(const RunFolder& folder, const fs::path& file, bool beside_config) {
  if (!fs::is_regular_file(file)) return false;
  if (file == folder.config()) {
    const Record record = json_in(folder.path() / records_name), config = json_in(file);
    return beside_config || (is_our_record(record) && config.is_object() &&
                             record.value("options", Record()) == config);
  }
  if (file == folder.path() / records_name) return is_our_record(json_in(file));
  if (file == folder.report()) {
    const std::string page = text_in(file);
    return page.find("class=\"brand\"") != std::string::npos &&
           page.find("headroom</p>") != std::string::npos;
  }
  if (file == folder.metrics()) return beside_config || is_log_of_run(file);
  if (file == folder.summary()) return beside_config || is_summary_of_run(json_in(file));
  try {
    const auto texts = TensorFile::read(file).metadata;
    return texts.contains("format") && texts.at("format").starts_with("headroom ");
  } catch (const FileError&) {
    return beside_config;  // damaged
  }
}

/// Throws UsageError for the first file that is not certainly one of a run or page of ours.
void require_ours(const RunFolder& folder, const std::vector<fs::path>& files) {
  const bool beside_config = is_config_of_run(json_in(folder.config()));
  for (const fs::path& file : files) {
    if (is_ours(folder, file, beside_config)) continue;
    throw UsageError(
        fmt::format("{}: its {} is not that of a run, and only files of runs are replaced; choose "
                    "another folder",
                    folder.path().string(), file.filename().string()));
  }
}

/// Whether anything is in a folder but the lock and the temporary file of a config.json that a
/// killed process did not finish (see AtomicFile): that run has not begun yet.
bool has_files(const fs::path& folder) {
  return std::any_of(fs::directory_iterator(folder), fs::directory_iterator(),
                     [](const fs::directory_entry& entry) {
                       const std::string name = entry.path().filename().string();
                       return name != lock_name &&
                              (!name.starts_with(".config.json.") || !name.ends_with(".tmp"));
                     });
}

}  // namespace

RunFolder::RunFolder(fs::path path, IfExists if_exists) : path_(std::move(path)) {
  const std::string name = path_.string();
  if (fs::exists(path_) && !fs::is_directory(path_)) {
    throw UsageError(fmt::format("{}: is a file; a run needs a folder", name));
  }
  const bool filled = fs::exists(path_) && has_files(path_);
  const bool begun = filled && (fs::exists(config()) || fs::exists(checkpoint()));
  if (if_exists == IfExists::resume_or_start) {
    if_exists = begun ? IfExists::resume : IfExists::refuse;
  }
  if (if_exists == IfExists::resume) {
    if (!begun) throw UsageError(fmt::format("{}: there is no run to resume", name));
    resumes_ = fs::exists(checkpoint());
  } else if (filled && if_exists == IfExists::refuse) {
    throw UsageError(
        fmt::format("{}: the folder is not empty; continue its run, or replace it", name),
        {"resume", "force"});
  }
  make_folder(path_);
  if (if_exists == IfExists::force) {
    std::vector<fs::path> old{config(), checkpoint(),        best(), metrics(), summary(),
                              report(), path_ / records_name};
    std::erase_if(old, [](const fs::path& file) { return !fs::exists(file); });
    for (const Index step : snapshots()) old.push_back(snapshot(step));
    require_ours(*this, old);
    for (const fs::path& file : kept_data()) old.push_back(file);
    for (const fs::path& file : old) fs::remove(file);
  }
}

RunFolder RunFolder::for_page(const fs::path& path, bool force) {
  if (const std::optional<fs::path> model = checkpoint_in(path)) {
    throw UsageError(
        fmt::format("{}: holds a trained model ({}), which a page does not replace; "
                    "choose another folder",
                    path.string(), model->filename().string()));
  }
  if (!force && fs::is_directory(path) && !fs::is_empty(path)) {
    throw UsageError(fmt::format("{}: the folder is not empty; choose another, or replace its page",
                                 path.string()),
                     {"force"});
  }
  return RunFolder(path, force ? IfExists::force : IfExists::refuse);
}

RunFolder RunFolder::fresh(const fs::path& root, const std::string& name) {
  make_folder(root);
  for (Index number = 1;; ++number) {  // making it is the test: two runs never share one
    const fs::path path = root / fmt::format("{}-{}", name, number);
    std::error_code error;
    if (fs::create_directory(path, error)) {
      sync_folder(root);
      return RunFolder(path);
    }
    if (error && !fs::exists(path)) {
      throw FileError(
          fmt::format("{}: cannot create the folder: {}", path.string(), error.message()));
    }
  }
}

fs::path RunFolder::snapshot(Index step) const {
  return path_ / snapshot_folder / fmt::format("step-{:06}.safetensors", step);
}

fs::path RunFolder::new_snapshot(Index step) const {
  make_folder(path_ / snapshot_folder);
  return snapshot(step);
}

std::vector<Index> RunFolder::snapshots() const {
  std::vector<Index> steps;
  const fs::path folder = path_ / snapshot_folder;
  if (!fs::is_directory(folder)) return steps;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const std::string digits = name.substr(name.find('-') + 1);
    const Index step = std::atoll(digits.c_str());
    if (entry.path() == snapshot(step)) steps.push_back(step);  // ours, not a file beside them
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

void RunFolder::write_config(const Record& config) const {
  write_file(this->config(), config.dump(2) + "\n");
}

Record RunFolder::read_config() const { return read_config_file(config()); }

Record read_config_file(const fs::path& file) {
  Record config = parse_json(read_file(file), file.string());
  const Record::json_pointer place("/task/data");
  if (!config.is_object() || !config.contains(place) || !config[place].is_string()) return config;
  const fs::path name = fs::path(config[place].get<std::string>()).filename();
  const fs::path here = file.parent_path() / name;
  if (is_kept_data(here)) config[place] = fs::absolute(here).string();
  return config;
}

fs::path RunFolder::keep_data(const std::string& text, const std::string& ending) const {
  const fs::path file = path_ / data_name(text, ending);
  write_file(file, text);
  return fs::absolute(file);
}

std::vector<fs::path> RunFolder::kept_data() const {
  std::vector<fs::path> kept;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
    if (is_kept_data(entry.path())) kept.push_back(entry.path());
  }
  return kept;
}

FileLock lock_run(const fs::path& folder) {
  const fs::path path = folder / lock_name;
  if (std::optional<FileLock> lock = FileLock::if_free(path)) return std::move(*lock);
  throw UsageError(
      fmt::format("{}: {} is training in this folder; wait until it has ended, or choose another",
                  folder.string(), FileLock::holder(path)));
}

bool is_training(const fs::path& folder) { return FileLock::held(folder / lock_name); }

std::optional<fs::path> newest_run(const fs::path& root) {
  std::optional<fs::path> newest;
  fs::file_time_type newest_time;
  if (fs::is_directory(root)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
      const fs::path checkpoint = entry.path() / RunFolder::checkpoint_name;
      if (!fs::exists(checkpoint)) continue;
      const fs::file_time_type time = fs::last_write_time(checkpoint);
      if (newest && time <= newest_time) continue;
      newest = entry.path();
      newest_time = time;
    }
  }
  return newest;
}

fs::path folder_of(const fs::path& path) {
  if (fs::is_directory(path)) return path;
  const fs::path folder = path.parent_path();
  return folder.filename() == snapshot_folder ? folder.parent_path() : folder;
}

fs::path checkpoint_of(const fs::path& path) {
  if (!fs::exists(path)) throw FileError(fmt::format("{}: does not exist", path.string()));
  if (!fs::is_directory(path)) return path;
  if (const std::optional<fs::path> found = checkpoint_in(path)) return *found;
  throw FileError(fmt::format("{}: has no checkpoint ({}, {})", path.string(), RunFolder::best_name,
                              RunFolder::checkpoint_name));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
