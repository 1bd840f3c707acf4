// The files of a study. Private.
#pragma once

#include <filesystem>
#include <string>

#include "headroom/base/real.hpp"
#include "headroom_runs/runs/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

struct StudyDeclaration;
struct StudyOptions;

/// A folder that all copies of a study share.
struct StudyFolder {
  std::filesystem::path path;

  std::filesystem::path declaration() const { return path / "declaration.json"; }
  std::filesystem::path results() const { return path / "results.json"; }
  /// Folders of runs of `train`. A run is done when its folder has a summary.json.
  std::filesystem::path trunk(const std::string& key) const { return path / "trunks" / key; }
  std::filesystem::path cell(const std::string& key) const { return path / "cells" / key; }
  std::string checkpoint(const std::string& trunk_key) const {
    return (trunk(trunk_key) / RunFolder::checkpoint_name).string();
  }
  /// The output of `importance --json` for a trunk.
  std::filesystem::path scores(const std::string& key) const {
    return trunk(key) / "importance.json";
  }
  /// The file that a copy locks while it works on a job.
  std::filesystem::path claim(const std::string& job) const { return path / "claims" / job; }
  /// The error of a job that failed, one line, until the job begins again.
  std::filesystem::path failure(const std::string& job) const { return path / "failures" / job; }
  /// The record of how a job was done: a StudyWork. Versions before had its seconds alone, in a
  /// folder `seconds`, which is not read.
  std::filesystem::path work(const std::string& job) const {
    return path / "work" / (job + ".json");
  }
};

/// Makes the folder with its declaration, or requires that its declaration is the same. Throws
/// UsageError as run_study() does.
void open_folder(const StudyDeclaration& declaration, const StudyOptions& options,
                 const StudyFolder& folder);
/// Requires that the study in a folder has this declaration. Throws UsageError.
void require_same(const StudyDeclaration& declaration, const StudyFolder& folder);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
