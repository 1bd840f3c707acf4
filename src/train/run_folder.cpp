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

/// The checkpoint of a folder: its best, else its latest one.
std::optional<fs::path> checkpoint_in(const fs::path& folder) {
  for (const char* name : {RunFolder::best_name, RunFolder::checkpoint_name}) {
    if (fs::exists(folder / name)) return folder / name;
  }
  return std::nullopt;
}

/// True if a JSON file has an object with one of these keys.
bool has_key(const fs::path& file, std::initializer_list<const char*> keys) {
  try {
    const Record record = parse_json(read_file(file), file.string());
    return record.is_object() && std::any_of(keys.begin(), keys.end(),
                                             [&](const char* key) { return record.contains(key); });
  } catch (const FileError&) {
    return false;
  }
}

/// True if headroom wrote this file of a run.
bool is_ours(const fs::path& file) {
  try {
    const std::string name = file.filename().string();
    if (name == "config.json") return has_key(file, {"task", "layout"});
    if (name == "records.json") return has_key(file, {"title", "kind", "experiments"});
    if (name == "report.html") return read_file(file).find("headroom") != std::string::npos;
    if (!name.ends_with(".safetensors")) return false;
    const auto texts = TensorFile::read(file).metadata;
    return texts.contains("format") && texts.at("format").starts_with("headroom ");
  } catch (const FileError&) {
    return false;
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
    std::vector<fs::path> old;
    for (const fs::path& file :
         {config(), metrics(), checkpoint(), best(), summary(), report(), path_ / "records.json"}) {
      if (fs::exists(file)) old.push_back(file);
    }
    if (!old.empty() && std::none_of(old.begin(), old.end(), is_ours)) {
      throw UsageError(
          fmt::format("{}: its {} is not that of a run, and --force removes nothing else; choose "
                      "another folder",
                      name, old.front().filename().string()));
    }
    for (const fs::path& file : old) fs::remove(file);
    for (const Index step : snapshots()) fs::remove(snapshot(step));
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
