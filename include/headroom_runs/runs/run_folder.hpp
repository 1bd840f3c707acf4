// RunFolder: the folder of a run's configuration, metrics and checkpoints.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "headroom/base/record.hpp"
#include "headroom/io/file_lock.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The treatment of a folder that is not empty.
enum class IfExists {
  refuse,
  resume,           // continue from its checkpoint
  resume_or_start,  // the same if a run was begun in it, otherwise refuse
  force,            // remove the files of the old run, and only those
  replace = force,  // the same
  overwrite = force
};

/// The files of one run.
class RunFolder {
 public:
  static constexpr const char* checkpoint_name = "checkpoint.safetensors";  // the latest
  static constexpr const char* best_name = "best.safetensors";

  /// Makes the folder. Throws UsageError when it is not empty and neither resume nor force was
  /// said, when there is nothing to resume, or when the files that force would remove are not those
  /// of a run; FileError when it cannot be made.
  RunFolder(std::filesystem::path path, IfExists if_exists = IfExists::refuse);
  /// The folder of a command that writes a page and trains nothing; `force` replaces an old page.
  /// Throws as above, and UsageError when the folder holds a trained model, whatever `force` says.
  static RunFolder for_page(const std::filesystem::path& path, bool force);
  /// A new folder under `root`: NAME-1, or the next number that is free.
  static RunFolder fresh(const std::filesystem::path& root, const std::string& name);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const { return path_ / "config.json"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path checkpoint() const { return path_ / checkpoint_name; }
  std::filesystem::path best() const { return path_ / best_name; }
  /// A copy of the checkpoint after a step (TrainingSettings::snapshots).
  std::filesystem::path snapshot(Index step) const;
  /// The same path, once its folder is there. Throws FileError when that cannot be made.
  std::filesystem::path new_snapshot(Index step) const;
  /// The steps of all snapshots that are there, ascending.
  std::vector<Index> snapshots() const;
  std::filesystem::path summary() const { return path_ / "summary.json"; }
  std::filesystem::path report() const { return path_ / "report.html"; }

  /// True when there is a checkpoint to continue from.
  bool resumes() const { return resumes_; }
  /// config.json, replaced whole. Throws FileError.
  void write_config(const Record& config) const;
  /// The same as it was written, but for data that the run keeps itself: they are in this folder,
  /// wherever it was when they were written.
  Record read_config() const;

  /// Keeps data that have no file of their own as data-CHECKSUM and the ending, in this folder, so
  /// that they replace no others; returns the absolute path. Throws FileError.
  std::filesystem::path keep_data(const std::string& text, const std::string& ending) const;
  /// The files that keep_data() wrote and nobody changed.
  std::vector<std::filesystem::path> kept_data() const;

 private:
  std::filesystem::path path_;
  bool resumes_ = false;
};

/// Reads a config.json as RunFolder::read_config() does, or another file of settings.
Record read_config_file(const std::filesystem::path& file);

/// The lock of the one process that may train in a folder, which must be there. Throws UsageError
/// naming the process that has it.
FileLock lock_run(const std::filesystem::path& folder);

/// Whether a process trains in a folder.
bool is_training(const std::filesystem::path& folder);

/// The run under `root` whose checkpoint is the newest; none if no run there has one.
std::optional<std::filesystem::path> newest_run(const std::filesystem::path& root = "runs");

/// The folder of the run that a checkpoint or snapshot belongs to; a folder is its own.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// The checkpoint at a path: the file itself, or a folder's best checkpoint, else its latest.
/// Throws FileError when there is none.
std::filesystem::path checkpoint_of(const std::filesystem::path& path);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
