// Text files from outside: lines with their numbers, and the account of bad ones.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The content of a text file without a byte order mark, line endings \r\n and \r turned into \n.
/// Throws FileError when it cannot be read, DataError `file:line: ...` for malformed UTF-8 and NUL
/// bytes, and `file: ...` for a file without any text.
std::string read_text(const std::filesystem::path& path);

/// The same, but malformed UTF-8 is left to the caller, who goes by lines.
std::string read_raw_text(const std::filesystem::path& path);

/// Lines of read_text() without their endings; an ending at the very end begins no further line.
std::vector<std::string_view> lines_of(std::string_view text);

/// Lines of a data file that were left out, by reason. Whoever loads data prints it.
struct SkippedLines {
  std::map<std::string, Index> count_by_reason;
  Index total() const;
  /// "3 lines skipped: 2 no phonemes, 1 unknown phoneme"; "" when none was.
  std::string text() const;
};

/// Collects what is wrong with the lines of one file, so that the first is reported with the count.
class LineAudit {
 public:
  LineAudit(std::filesystem::path path, bool skip_bad_lines)
      : path_(std::move(path)), skip_(skip_bad_lines) {}
  /// `line` counts from 1. `reason` is the kind of defect, `detail` the words about this line.
  void bad(Index line, const std::string& reason, const std::string& detail);
  /// Throws DataError `file:118: no phonemes after "absalom"; 1 bad line of 135166
  /// (--skip-bad-lines goes on without it)` when there was a bad line and they are not skipped.
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
