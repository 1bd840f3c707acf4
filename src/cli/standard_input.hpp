// Data from standard input (`train --data -`), kept as a file so that the run can read them again.
#pragma once

#include <filesystem>
#include <string>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Everything that standard input has, as a file of a temporary folder, which goes with the object.
class StandardInput {
 public:
  /// Reads to the end. The file is a table with objects (.jsonl) if the first line begins with a
  /// brace, else with tabs (.tsv). Throws FileError, DataError if there is nothing.
  StandardInput();
  ~StandardInput();
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

  const std::filesystem::path& file() const { return file_; }
  /// Copies the file into a folder as data-CHECKSUM.tsv or .jsonl, so that the copy replaces no
  /// other data; returns its path there.
  std::filesystem::path keep_in(const std::filesystem::path& folder) const;

 private:
  std::filesystem::path file_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
