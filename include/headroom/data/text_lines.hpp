// Reading text files: lines with their numbers, and reports of bad lines.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Reads a text file. Removes a byte order mark and converts the line endings \r\n and \r to \n.
/// Throws FileError when it cannot be read, DataError `file:line: ...` for malformed UTF-8 and NUL
/// bytes, and `file: ...` for a file without any text.
std::string read_text(const std::filesystem::path& path);

/// The same without the check of UTF-8, which the caller does line by line.
std::string read_raw_text(const std::filesystem::path& path);

/// Lines of read_text() without their endings. An ending at the end of the text begins no further
/// line.
std::vector<std::string_view> lines_of(std::string_view text);

/// Counts the skipped lines of a data file by reason. The caller that loads data prints it.
struct SkippedLines {
  std::map<std::string, Index> count_by_reason;
  /// How many lines were left out, for all reasons.
  Index total() const;
  /// "3 lines skipped: 2 no phonemes, 1 unknown phoneme"; "" if there are none.
  std::string text() const;
};

/// Collects the bad lines of one file, to report the first one and the total count.
class LineAudit {
 public:
  LineAudit(std::filesystem::path path, bool skip_bad_lines)
      : path_(std::move(path)), skip_(skip_bad_lines) {}
  /// `line` counts from 1. `reason` is the kind of defect, `detail` describes this line.
  void bad(Index line, const std::string& reason, const std::string& detail);
  /// Throws DataError `file:118: no phonemes after "absalom"; 1 bad line of 135166
  /// (use --skip-bad-lines to skip it)` when there was a bad line and they are not skipped.
  SkippedLines finish(Index lines) const;

 private:
  std::filesystem::path path_;
  bool skip_;
  Index first_line_ = 0;
  std::string first_detail_;
  SkippedLines skipped_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
