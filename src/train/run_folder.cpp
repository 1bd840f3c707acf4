// The folder of a run.
#include "headroom/train/run_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"
#include "headroom/io/tensor_file.hpp"
#include "io/files.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

constexpr const char* snapshot_folder = "snapshots";
constexpr const char* lock_name = ".lock";
constexpr const char* records_name = "records.json";

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

/// True if the content of a file of a run says that headroom wrote it.
bool is_ours(const RunFolder& folder, const fs::path& file) {
  const auto json = [](const fs::path& path) {
    return fs::exists(path) ? parse_json(read_file(path), path.string()) : Record();
  };
  try {
    const fs::path records = folder.path() / records_name;
    if (file == folder.config()) {  // of a run, of the demo, of an experiment
      const Record config = json(file);
      if (has_all(config, {"task", "model", "training"})) return true;
      if (has_all(config, {"layout", "width", "heads", "hidden"})) return true;
      const Record record = json(records);
      return is_our_record(record) && record.value("options", Record()) == config;
    }
    if (file == records) return is_our_record(json(file));
    if (file == folder.report()) {
      const std::string page = read_file(file);
      return page.find("class=\"brand\"") != std::string::npos &&
             page.find("headroom</p>") != std::string::npos;
    }
    if (file.extension() != ".safetensors") return false;
    const auto texts = TensorFile::read(file).metadata;
    return texts.contains("format") && texts.at("format").starts_with("headroom ");
  } catch (const FileError&) {
    return false;
  }
}

/// Throws UsageError for the first file that is not one of a run or page of ours. Pages and JSON
/// must be ours by their content. A log, a summary and a checkpoint, which may be damaged, need
/// one other such file beside them.
void require_ours(const RunFolder& folder, const std::vector<fs::path>& files) {
  const bool is_run = std::any_of(files.begin(), files.end(), [&](const fs::path& file) {
    return file != folder.report() && is_ours(folder, file);
  });
  for (const fs::path& file : files) {
    const bool by_content =
        file == folder.config() || file == folder.report() || file == folder.path() / records_name;
    if (by_content ? is_ours(folder, file) : is_run) continue;
    throw UsageError(
        fmt::format("{}: its {} is not that of a run, and --force removes nothing else; choose "
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
    throw UsageError(fmt::format(
        "{}: the folder is not empty (use --resume to continue its run, or --force to replace it)",
        name));
  }
  make_folder(path_);
  if (if_exists == IfExists::force) {
    std::vector<fs::path> old{config(), checkpoint(),        best(), metrics(), summary(),
                              report(), path_ / records_name};
    std::erase_if(old, [](const fs::path& file) { return !fs::exists(file); });
    for (const Index step : snapshots()) old.push_back(snapshot(step));
    require_ours(*this, old);
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
    throw UsageError(fmt::format(
        "{}: the folder is not empty (choose another, or use --force to replace its page)",
        path.string()));
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

Record RunFolder::read_config() const { return parse_json(read_file(config()), config().string()); }

FileLock lock_run(const fs::path& folder) {
  const fs::path path = folder / lock_name;
  if (std::optional<FileLock> lock = FileLock::if_free(path)) return std::move(*lock);
  throw UsageError(
      fmt::format("{}: {} is training in this folder; wait until it has ended, or choose another",
                  folder.string(), FileLock::holder(path)));
}

fs::path newest_run(const fs::path& root) {
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
  if (!newest) {
    throw UsageError(fmt::format(
        "no trained model under {} (train one with {} train, or name one with --model DIR)",
        root.string(), invocation()));
  }
  return *newest;
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
