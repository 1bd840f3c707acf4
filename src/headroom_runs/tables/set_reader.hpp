// SetReader: the rows of a table or of the lines of a text, divided into sets. Private to the
// tables floor.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "headroom/data/task.hpp"
#include "headroom_runs/tables/table.hpp"
#include "headroom_runs/tables/table_tasks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

using TableRows = std::vector<TableRow>;

/// The rows of the three sets.
struct Sets {
  TableRows train, validation, test;
};

/// Reads the files of a task, leaves out rows with a fault, and divides the rows by the texts of
/// their first cells. Rows with the same key are in one set; without `key_of` it is that text.
class SetReader {
 public:
  /// `columns` are the usual names; with one, a file that does not end like a table is a text whose
  /// lines are the rows. Rows with a `fault`, such as "longer than 100", are left out.
  SetReader(const TaskOptions& data, const TableOptions& table, std::vector<std::string> columns,
            std::function<std::string(const TableRow&)> fault,
            std::function<std::string(const TableRow&)> key_of = {})
      : data_(data),
        table_(table),
        columns_(std::move(columns)),
        fault_(std::move(fault)),
        key_of_(std::move(key_of)) {}

  /// Throws what read_table() throws; DataError for fewer different sources than sets, and if no
  /// row of a file is left.
  Sets read();
  TableRows rows_of(const std::filesystem::path& path);
  const SkippedLines& skipped() const { return skipped_; }

 private:
  TableRows read_file_of(const std::filesystem::path& path);

  TaskOptions data_;
  TableOptions table_;
  std::vector<std::string> columns_;
  std::function<std::string(const TableRow&)> fault_;
  std::function<std::string(const TableRow&)> key_of_;
  SkippedLines skipped_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
