// Tables and charts, each described once: terminal, page, JSON and CSV show them from here.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "headroom/base/terminal.hpp"
#include "headroom/io/fields.hpp"
#include "headroom_lab/blocks/text.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A table; the first column names the rows.
struct Table {
  std::string type = "table";  // or "shapes": a row per stage with its name, shape and origin
  bool figure = false;         // of a record of the laboratory: shows the answer
  std::string shown = {};      // by a page: "folded"; "high" or "low" shades cells near 1 or 0
  Text title = {}, caption = {};
  std::vector<std::string> columns = {};
  std::vector<std::vector<Value>> rows = {};

  using T = Table;
  using Fields = Listed<&T::type, if_any<&T::figure>, if_any<&T::shown>, &T::title, &T::caption,
                        &T::columns, &T::rows>;
};

/// Curves over a common axis; `log` draws powers of ten at equal distances.
struct Chart {
  /// A curve.
  struct Series {
    std::string name;
    std::vector<std::pair<double, double>> points = {};
  };
  std::string type = "chart";
  bool figure = false;
  Text title = {}, caption = {};
  std::string x = {}, y = {};  // names of the axes
  bool log = false;
  std::vector<Series> series = {};

  using T = Chart;
  using Fields = Listed<&T::type, if_any<&T::figure>, &T::title, &T::caption, &T::x, &T::y, &T::log,
                        &T::series>;
};

/// A series in JSON: {"name", "points": [[x, y], ...]}.
Record json_of(const Chart::Series& series);
void read_json(const JsonNode& from, Chart::Series& to);

/// The points of all curves: a row for each place on the axis, a column for each curve.
Table table_of(const Chart& chart);

/// Columns and rows for a terminal, the first column to the left, the others to the right (those
/// of shapes to the left), with a line of titles; no title and no caption. Columns are 3 spaces
/// apart, or 2 or 1 where only then all fit. A table that is still too wide continues below itself,
/// each part with the first column. If some column does not fit beside the first one, it becomes a
/// list. Every line starts with `indent` spaces. Throws ShapeError for a row of another length.
std::string table_text(const Table& table, const TerminalStyle& style, int indent = 0);

/// Columns and rows as comma-separated values (RFC 4180) with a line of titles. Numbers have all
/// their digits. A column with intervals becomes three: "x", "x low", "x high".
std::string csv_text(const Table& table);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
