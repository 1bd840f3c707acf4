// Data from standard input (`--data -`), kept as a file so that they can be read again.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "headroom/data/task.hpp"
#include "headroom_runs/runs/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Everything that standard input has, as a file of a temporary folder, which goes with the object.
class StandardInput {
 public:
  static constexpr const char* option = "-";  // as the name of a file

  /// Reads to the end. The file is a table with objects (.jsonl) if it begins with a brace and a
  /// quote, with commas (.csv) if its first line has a comma and no tab, else with tabs. Throws
  /// FileError, DataError if there is nothing.
  StandardInput();
  ~StandardInput();
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

  const std::filesystem::path& file() const { return file_; }
  /// Calls `make`, which reads the file, and returns its task. Throws its DataError and FileError
  /// with "standard input" in place of the file's path.
  Task task(const std::function<Task()>& make) const;
  /// Copies the file into the folder of a run (see RunFolder::keep_data()); returns the copy's
  /// path.
  std::filesystem::path keep_in(const RunFolder& folder) const;

 private:
  std::filesystem::path file_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
