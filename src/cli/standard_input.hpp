// Data from standard input (`--data -`), kept as a file so that they can be read again.
#pragma once

#include <filesystem>
#include <string>

#include "headroom/base/error.hpp"
#include "headroom_runs/runs/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Everything that standard input has, as a file of a temporary folder, which goes with the object.
class StandardInput {
 public:
  static constexpr const char* option = "-";  // as the name of a file

  enum class Content { table, lines };

  /// Reads to the end. The file is a table with objects (.jsonl) if it begins with a brace and a
  /// quote; else lines are a text (.txt), and a table has commas (.csv) if its first line has a
  /// comma and no tab, else tabs. Throws FileError, DataError if there is nothing.
  explicit StandardInput(Content content = Content::table);
  ~StandardInput();
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

  const std::filesystem::path& file() const { return file_; }
  /// Calls a function that reads the file, and returns what it returns. Throws its DataError and
  /// FileError with "standard input" in place of the file's path.
  template <class Read>
  auto reading(Read read) const {
    try {
      return read();
    } catch (const DataError& error) {
      throw DataError(renamed(error.what()), error.settings());
    } catch (const FileError& error) {
      throw FileError(renamed(error.what()), error.settings());
    }
  }
  /// Copies the file into the folder of a run (see RunFolder::keep_data()); returns the copy's
  /// path.
  std::filesystem::path keep_in(const RunFolder& folder) const;

 private:
  /// A message with "standard input" where it names the file first, then "-", as commands do.
  std::string renamed(std::string message) const;

  std::filesystem::path file_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
