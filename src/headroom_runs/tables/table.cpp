// Reads tables.
#include "headroom_runs/tables/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

using Names = std::array<std::string, 2>;

std::string without_ends(std::string_view text) {
  constexpr std::string_view spaces = " \t\n";
  const std::size_t begin = text.find_first_not_of(spaces);
  if (begin == text.npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(spaces) - begin + 1));
}

/// All cells of a row, before two are chosen.
struct Cells {
  Index line = 0;
  std::vector<std::string> cells;
};

/// The cells of a line between tabs.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  while (true) {
    const std::size_t end = line.find('\t');
    cells.push_back(without_ends(line.substr(0, end)));
    if (end == line.npos) return cells;
    line.remove_prefix(end + 1);
  }
}

std::vector<Cells> tab_rows(std::string_view text) {
  std::vector<Cells> rows;
  Index number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    if (!without_ends(line).empty()) rows.push_back({number, cells_of(line)});
  }
  return rows;
}

/// Reads quoted cells. A row whose quote does not end goes to the end of the file, so it is an
/// error that cannot be skipped.
std::vector<Cells> comma_rows(std::string_view text, const fs::path& path) {
  std::vector<Cells> rows;
  Index line = 1;
  for (std::size_t at = 0; at < text.size();) {
    Cells row{line, {}};
    bool ends = false;
    while (!ends) {
      std::string cell;
      const std::size_t begin = std::min(text.find_first_not_of(' ', at), text.size());
      if (begin < text.size() && text[begin] == '"') {
        at = begin + 1;
        const Index opened = line;
        while (at < text.size() && (text[at] != '"' || text.substr(at + 1).starts_with('"'))) {
          line += text[at] == '\n' ? 1 : 0;
          cell += text[at];
          at += text[at] == '"' ? std::size_t(2) : 1;
        }
        if (at >= text.size()) {
          throw DataError(
              fmt::format("{}:{}: the quote that begins here does not end", path.string(), opened));
        }
        ++at;
      }
      const std::size_t end = std::min(text.find_first_of(",\n", at), text.size());
      cell += text.substr(at, end - at);
      ends = end == text.size() || text[end] == '\n';
      at = std::min(end + 1, text.size());
      row.cells.push_back(without_ends(cell));
    }
    ++line;
    if (row.cells.size() > 1 || !row.cells[0].empty()) rows.push_back(std::move(row));
  }
  return rows;
}

/// "source,target" -> both names.
Names column_names(const std::string& columns) {
  const std::size_t comma = columns.find(',');
  if (comma != columns.npos && columns.find(',', comma + 1) == columns.npos) {
    const Names names{without_ends(columns.substr(0, comma)),
                      without_ends(columns.substr(comma + 1))};
    if (!names[0].empty() && !names[1].empty() && names[0] != names[1]) return names;
  }
  throw UsageError(fmt::format(
      "columns \"{}\" must be two names or numbers, such as source,target or 1,2", columns));
}

/// The place of a column from 0, if the text is a number from 1.
std::optional<std::size_t> place_of(const std::string& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) return {};
  return number - 1;
}

/// Which cells of each row are meant.
struct Places {
  std::array<std::size_t, 2> places{0, 1};
  bool header = false;  // the first row has names
  bool any = false;     // rows may have more cells
};

Places places_of(const std::vector<Cells>& rows, const std::string& columns, const Names& usual,
                 const fs::path& path) {
  const Names names = columns.empty() ? usual : column_names(columns);
  if (place_of(names[0]) && place_of(names[1])) {
    return {{*place_of(names[0]), *place_of(names[1])}, false, true};
  }
  const std::vector<std::string>& first = rows[0].cells;
  std::array<std::size_t, 2> places{};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto found = std::find(first.begin(), first.end(), names[i]);
    if (found == first.end()) {
      if (columns.empty()) return {};
      throw DataError(fmt::format("{}:{}: no column is called \"{}\"; the first line has \"{}\"",
                                  path.string(), rows[0].line, printable(names[i]),
                                  printable(fmt::format("{}", fmt::join(first, "\", \"")), 200)),
                      {"columns"});
    }
    places[i] = std::size_t(found - first.begin());
  }
  return {places, true, true};
}

/// Collects the rows of a file and its bad ones.
class GoodRows {
 public:
  GoodRows(const fs::path& path, bool skip_bad_lines) : audit_(path, skip_bad_lines) {}

  void add(Index line, Names cells, const Names& names) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (cells[i].empty()) {
        return bad(line, "empty cell", fmt::format("nothing in the column {}", names[i]));
      }
      if (find_malformed_utf8(cells[i])) {
        return bad(line, "not valid UTF-8", "the line is not valid UTF-8");
      }
    }
    rows_.push_back({line, std::move(cells)});
  }
  void bad(Index line, const std::string& reason, const std::string& detail) {
    audit_.bad(line, reason, detail);
  }
  std::vector<TableRow> finish(Index lines, SkippedLines& skipped) {
    for (const auto& [reason, count] : audit_.finish(lines).count_by_reason) {
      skipped.count_by_reason[reason] += count;
    }
    return std::move(rows_);
  }

 private:
  LineAudit audit_;
  std::vector<TableRow> rows_;
};

void add_cells(GoodRows& rows, const std::vector<Cells>& all, const Places& places,
               const Names& names) {
  const std::size_t needed = 1 + std::max(places.places[0], places.places[1]);
  for (std::size_t i = places.header ? 1 : 0; i < all.size(); ++i) {
    const auto& [line, cells] = all[i];
    const std::size_t count = cells.size();
    if (count < needed) {
      rows.bad(line, "too few columns",
               fmt::format("{} column{}, {} are needed", count, count == 1 ? "" : "s", needed));
    } else if (count > needed && !places.any) {
      rows.bad(line, "too many columns",
               fmt::format("{} columns; name the two that are meant", count));
    } else {
      rows.add(line, {cells[places.places[0]], cells[places.places[1]]}, names);
    }
  }
}

/// A value of JSON as a cell: a text as it is, a number or a truth value as it is written.
std::string cell_of(const Record& value) {
  if (value.is_string()) return without_ends(value.get<std::string>());
  return value.is_number() || value.is_boolean() ? value.dump() : "";
}

void add_objects(GoodRows& rows, std::string_view text, const Names& names, const fs::path& path) {
  Index number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    if (without_ends(line).empty()) continue;
    const std::string origin = fmt::format("{}:{}", path.string(), number);
    Record object;
    try {
      object = parse_json(line, origin);
    } catch (const FileError& error) {
      rows.bad(number, "malformed JSON", std::string(error.what()).substr(origin.size() + 2));
      continue;
    }
    const auto missing = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
      return !object.is_object() || !object.contains(name);
    });
    if (missing != names.end()) {
      rows.bad(number, "a missing key", fmt::format("no key \"{}\"", printable(*missing)));
    } else {
      rows.add(number, {cell_of(object[names[0]]), cell_of(object[names[1]])}, names);
    }
  }
}

/// read_raw_text() would take the second byte of a character for a sign of no text.
void refuse_utf16(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<unsigned char, 2> mark{};
  file.read(reinterpret_cast<char*>(mark.data()), 2);
  if (file && ((mark[0] == 0xFF && mark[1] == 0xFE) || (mark[0] == 0xFE && mark[1] == 0xFF))) {
    throw DataError(
        fmt::format("{0}:1: the file is in UTF-16, UTF-8 is needed: iconv -f UTF-16 -t UTF-8 {0}",
                    path.string()));
  }
}

}  // namespace

TableFormat format_of(const fs::path& path) {
  const fs::path ending = path.extension();
  if (ending == ".csv") return TableFormat::csv;
  return ending == ".jsonl" || ending == ".ndjson" ? TableFormat::jsonl : TableFormat::tsv;
}

std::vector<TableRow> read_table(const fs::path& path, const std::string& columns,
                                 const Names& usual, bool skip_bad_lines, SkippedLines& skipped) {
  refuse_utf16(path);
  const std::string text = read_raw_text(path);
  const TableFormat format = format_of(path);
  const Names names = columns.empty() ? usual : column_names(columns);
  GoodRows rows(path, skip_bad_lines);
  if (format == TableFormat::jsonl) {
    add_objects(rows, text, names, path);
  } else {
    const auto all = format == TableFormat::csv ? comma_rows(text, path) : tab_rows(text);
    if (!all.empty()) add_cells(rows, all, places_of(all, columns, usual, path), names);
  }
  std::vector<TableRow> read = rows.finish(std::ssize(lines_of(text)), skipped);
  if (read.empty()) throw DataError(fmt::format("{}: the file has no rows", path.string()));
  return read;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
