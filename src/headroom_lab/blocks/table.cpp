// Tables and charts: the forms that a terminal and a file of comma-separated values show.
#include "headroom_lab/blocks/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "headroom/base/error.hpp"
#include "headroom/base/listed.hpp"
#include "headroom/base/text.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A series with separate lists of x and y, before they are joined to points.
struct Lists {
  std::string name;
  std::vector<std::vector<double>> points;

  using T = Lists;
  using Fields = Listed<&T::name, &T::points>;
};

void check_rows(const Table& table) {
  for (const auto& row : table.rows) {
    if (row.size() != table.columns.size()) {
      throw ShapeError(fmt::format("a table has a row of {} cells under {} titles", row.size(),
                                   table.columns.size()));
    }
  }
}

constexpr Index widest_gap = 3;  // between the columns of a table

/// A table as a terminal draws it: cells and the width of each column.
class DrawnTable {
 public:
  DrawnTable(const Table& table, const TerminalStyle& style, int indent)
      : titles_(table.columns),
        style_(style),
        margin_(std::size_t(indent), ' '),
        to_the_right_(table.type != "shapes") {
    for (const auto& row : table.rows) {
      std::vector<std::string>& cells = rows_.emplace_back();
      for (const Value& value : row) cells.push_back(words(value));
    }
    for (std::size_t c = 0; c < titles_.size(); ++c) {
      Index width = display_width(titles_[c]);
      for (const auto& row : rows_) width = std::max(width, display_width(row[c]));
      widths_.push_back(width);
    }
  }

  std::string text() const {
    const std::size_t columns = titles_.size();
    for (Index gap = widest_gap; gap > 0; --gap) {
      if (fits(1, columns, gap)) return part(1, columns, gap);
    }
    for (std::size_t c = 1; c < columns; ++c) {
      if (!fits(c, c + 1, widest_gap)) return list();
    }
    std::string text;
    for (std::size_t first = 1, end = 1; first < columns; first = end) {
      end = first + 1;
      while (end < columns && fits(first, end + 1, widest_gap)) ++end;
      text += (text.empty() ? "" : "\n") + part(first, end, widest_gap);
    }
    return text;
  }

 private:
  /// Whether the first column and the columns [first, end), `gap` spaces apart, fit in a line.
  bool fits(std::size_t first, std::size_t end, Index gap) const {
    Index width = std::ssize(margin_) + (widths_.empty() ? 0 : widths_[0]);
    for (std::size_t c = first; c < end; ++c) width += gap + widths_[c];
    return width <= style_.columns;
  }
  std::string line(const std::vector<std::string>& cells, std::size_t first, std::size_t end,
                   Index gap) const {
    std::string text = cells.empty() ? "" : padded(cells[0], widths_[0]);
    for (std::size_t c = first; c < end; ++c) {
      text += std::string(std::size_t(gap), ' ') + padded(cells[c], widths_[c], to_the_right_);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }
  std::string part(std::size_t first, std::size_t end, Index gap) const {
    std::string text =
        margin_ + emphasised(line(titles_, first, end, gap), Emphasis::faint, style_) + "\n";
    for (const auto& row : rows_) text += margin_ + line(row, first, end, gap) + "\n";
    return text;
  }
  /// The first cell of each row, and below it a line for every other one.
  std::string list() const {
    const auto indent = int(margin_.size());
    std::string text;
    for (const auto& row : rows_) {
      const std::string name = titles_[0].empty() ? row[0] : titles_[0] + " " + row[0];
      text += wrapped(name, style_.columns, indent) + "\n";
      for (std::size_t c = 1; c < row.size(); ++c) {
        if (row[c].empty()) continue;
        text +=
            wrapped(fmt::format("{}: {}", titles_[c], row[c]), style_.columns, indent + 2) + "\n";
      }
    }
    return text;
  }

  const std::vector<std::string>& titles_;
  const TerminalStyle& style_;
  const std::string margin_;
  const bool to_the_right_;  // all columns but the first
  std::vector<std::vector<std::string>> rows_;
  std::vector<Index> widths_;
};

/// A field of a file of comma-separated values.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

std::string field(const Value& value) {
  if (const auto* whole = value.get<Index>()) return fmt::format("{}", *whole);
  if (const auto* number = value.get<double>()) return fmt::format("{}", *number);
  if (const auto* interval = value.get<Interval>()) return fmt::format("{}", interval->value);
  return field(words(value));
}

/// The ends of a value that is an interval, as two more fields; empty for others.
std::string ends(const Value& value) {
  const auto* interval = value.get<Interval>();
  return interval ? fmt::format(",{},{}", interval->low, interval->high) : ",,";
}

}  // namespace

Record json_of(const Chart::Series& series) {
  Lists lists{series.name, {}};
  for (const auto& [x, y] : series.points) lists.points.push_back({x, y});
  return json_of(lists);
}

void read_json(const JsonNode& from, Chart::Series& to) {
  Lists lists;
  read_json(from, lists);
  to = {lists.name, {}};
  for (const std::vector<double>& point : lists.points) {
    if (point.size() != 2) from.fail("a point of a series is a list of two numbers");
    to.points.emplace_back(point[0], point[1]);
  }
}

Table table_of(const Chart& chart) {
  Table table{.title = chart.title, .caption = chart.caption, .columns = {chart.x}};
  std::map<double, std::vector<Value>> rows;
  for (const Chart::Series& series : chart.series) {
    const std::size_t column = table.columns.size();
    table.columns.push_back(series.name);
    for (const auto& [x, y] : series.points) {
      std::vector<Value>& row = rows[x];
      row.resize(chart.series.size() + 1);
      row[0] = x;
      row[column] = y;
    }
  }
  for (auto& [x, row] : rows) table.rows.push_back(std::move(row));
  return table;
}

std::string table_text(const Table& table, const TerminalStyle& style, int indent) {
  check_rows(table);
  return DrawnTable(table, style, indent).text();
}

std::string csv_text(const Table& table) {
  check_rows(table);
  std::vector<bool> has_intervals;
  std::string text;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    has_intervals.push_back(std::any_of(table.rows.begin(), table.rows.end(), [c](const auto& row) {
      return row[c].template get<Interval>() != nullptr;
    }));
    const std::string& name = table.columns[c];
    text += (c > 0 ? "," : "") + field(name);
    if (has_intervals[c]) text += "," + field(name + " low") + "," + field(name + " high");
  }
  text += "\r\n";
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      text += (c > 0 ? "," : "") + field(row[c]);
      if (has_intervals[c]) text += ends(row[c]);
    }
    text += "\r\n";
  }
  return text;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
