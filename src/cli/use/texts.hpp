// The inputs of a command that runs a model on many texts.
#pragma once

#include <fstream>
#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "headroom/train/checkpoint.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The texts of a file, one after the other: its lines or, of a table, the cells of one column.
class TextSource {
 public:
  /// `file` is "-" for standard input. `column` is that of a table; if it is empty, the first
  /// column of the run's settings, else "source" or "text", else the first of two. Throws
  /// FileError, and as read_table().
  TextSource(const std::string& file, const std::string& column, bool skip_bad_lines,
             const SavedModel& saved);

  /// The next texts, at most so many; none at the end. Lines have no byte order mark and no \r.
  std::vector<std::string> next(std::size_t most);
  /// Whether somebody types the lines.
  bool is_typed() const;

 private:
  std::string name_;  // of the file
  std::unique_ptr<std::ifstream> file_;
  std::istream* lines_ = nullptr;   // null: `cells_`
  std::vector<std::string> cells_;  // of a table
  std::size_t next_ = 0;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
