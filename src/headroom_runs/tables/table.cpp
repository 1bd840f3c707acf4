// Reads tables.
#include "headroom_runs/tables/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <optional>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;

std::string without_ends(std::string_view text) {
  constexpr std::string_view spaces = " \t\n";
  const std::size_t begin = text.find_first_not_of(spaces);
  if (begin == text.npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(spaces) - begin + 1));
}

/// All cells of a row, before some are chosen.
struct Cells {
  Index line = 0;
  std::vector<std::string> cells;
  std::string problem = {};  // the reason why they cannot be told apart
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
          throw DataError(fmt::format(
              "{}:{}: the quote that begins here does not end; a quote in a quoted cell "
              "is written twice",
              path.string(), opened));
        }
        ++at;
        const std::size_t next = std::min(text.find_first_not_of(" \r", at), text.size());
        if (next < text.size() && text[next] != ',' && text[next] != '\n') {
          row.problem = "text after the end of a quote; a quote in a quoted cell is written twice";
        }
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

/// "source,target" -> both names, or one.
Names column_names(const std::string& columns, std::size_t count) {
  Names names;
  for (std::size_t begin = 0, end = 0; end != columns.npos; begin = end + 1) {
    end = columns.find(',', begin);
    names.push_back(without_ends(columns.substr(begin, end - begin)));
  }
  const bool named = std::none_of(names.begin(), names.end(),
                                  [](const std::string& name) { return name.empty(); });
  if (names.size() == count && named && std::set(names.begin(), names.end()).size() == count) {
    return names;
  }
  throw UsageError(
      fmt::format("columns \"{}\" must be {}", columns,
                  count == 1 ? "a name or number"
                             : "two different names or numbers, such as source,target or 1,2"));
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
  std::vector<std::size_t> places;
  bool header = false;  // the first row has names
  bool any = false;     // rows may have more cells
};

Places places_of(const std::vector<Cells>& rows, const std::string& columns, const Names& usual,
                 const fs::path& path) {
  const Names names = columns.empty() ? usual : column_names(columns, usual.size());
  const std::vector<std::string>& first = rows[0].cells;
  Places numbered{{}, false, true}, named{{}, true, true}, all{{}, false, false};
  for (const std::string& name : names) {
    all.places.push_back(all.places.size());
    if (const auto place = place_of(name)) numbered.places.push_back(*place);
  }
  if (numbered.places.size() == names.size()) return numbered;
  for (const std::string& name : names) {
    const auto found = std::find(first.begin(), first.end(), name);
    if (found == first.end()) {
      if (columns.empty()) return all;
      throw DataError(fmt::format("{}:{}: no column is called \"{}\"; the first line has \"{}\"",
                                  path.string(), rows[0].line, printable(name),
                                  printable(fmt::format("{}", fmt::join(first, "\", \"")), 200)),
                      {"columns"});
    }
    if (std::find(found + 1, first.end(), name) != first.end()) {
      throw DataError(fmt::format("{}:{}: two columns are called \"{}\"", path.string(),
                                  rows[0].line, printable(name)),
                      {"columns"});
    }
    named.places.push_back(std::size_t(found - first.begin()));
  }
  return named;
}

/// Collects the rows of a file and its bad ones.
class GoodRows {
 public:
  GoodRows(const fs::path& path, bool skip_bad_lines) : path_(path), audit_(path, skip_bad_lines) {}

  void add(Index line, Names cells, const Names& names) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].empty()) {
        return bad(line, "empty cell", fmt::format("nothing in the column {}", names[i]));
      }
      if (find_malformed_utf8(cells[i])) {
        return bad(line, "not valid UTF-8",
                   fmt::format("the line is not valid UTF-8 (if the file is in Latin-1: iconv -f "
                               "LATIN1 -t UTF-8 {})",
                               path_.string()));
      }
    }
    rows_.push_back({.line = line, .cells = std::move(cells)});
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
  fs::path path_;
  LineAudit audit_;
  std::vector<TableRow> rows_;
};

void add_cells(GoodRows& rows, const std::vector<Cells>& all, const Places& places,
               const Names& names) {
  const std::size_t needed = 1 + *std::max_element(places.places.begin(), places.places.end());
  for (std::size_t i = places.header ? 1 : 0; i < all.size(); ++i) {
    const auto& [line, cells, problem] = all[i];
    const std::size_t count = cells.size();
    if (!problem.empty()) {
      rows.bad(line, "text after a quote", problem);
    } else if (count < needed) {
      rows.bad(line, "too few columns",
               fmt::format("{} column{}, {} are needed", count, count == 1 ? "" : "s", needed));
    } else if (count > needed && !places.any) {
      rows.bad(line, "too many columns",
               fmt::format("{} columns; name the {} meant", count,
                           names.size() == 1 ? "one that is" : "two that are"));
    } else {
      Names chosen;
      for (const std::size_t place : places.places) chosen.push_back(cells[place]);
      rows.add(line, std::move(chosen), names);
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
    if (!object.is_object()) {
      rows.bad(number, "no JSON object", "the line is not a JSON object");
      continue;
    }
    const auto missing = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
      return !object.contains(name);
    });
    const auto no_cell = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
      return object.contains(name) && !object[name].is_primitive();
    });
    if (missing != names.end()) {
      rows.bad(number, "a missing key", fmt::format("no key \"{}\"", printable(*missing)));
    } else if (no_cell != names.end()) {
      rows.bad(number, "a list or object",
               fmt::format("\"{}\" is neither a text nor a number", printable(*no_cell)));
    } else {
      Names cells;
      for (const std::string& name : names) cells.push_back(cell_of(object[name]));
      rows.add(number, std::move(cells), names);
    }
  }
}

/// The ending of a name in small letters: ".csv".
std::string ending_of(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

/// The encoding that the first bytes of a file show, by their mark or by the zeros beside letters
/// of ASCII; "" for all others.
const char* wide_encoding(std::string_view first) {
  using std::literals::operator""sv;
  if (first.starts_with("\xFF\xFE\0\0"sv) || first.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (first.starts_with("\xFF\xFE"sv) || first.starts_with("\xFE\xFF"sv)) return "UTF-16";
  if (first.size() < 4) return "";
  const auto is_pair = [&](std::size_t letter, std::size_t zero) {
    return first[letter] != 0 && first[zero] == 0;
  };
  if (is_pair(0, 1) && is_pair(2, 3)) return "UTF-16LE";
  return is_pair(1, 0) && is_pair(3, 2) ? "UTF-16BE" : "";
}

}  // namespace

void require_narrow_encoding(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4> first{};
  file.read(first.data(), first.size());
  const std::string_view begin(first.data(), std::size_t(file.gcount()));
  if (begin == "PK\x03\x04") {
    throw DataError(fmt::format(
        "{}: is a spreadsheet or an archive; save its table as .csv in UTF-8", path.string()));
  }
  const char* encoding = wide_encoding(begin);
  if (*encoding == 0) return;
  throw DataError(
      fmt::format("{0}:1: the file is in {1}, UTF-8 is needed: iconv -f {1} -t UTF-8 {0}",
                  path.string(), encoding));
}

TableFormat format_of(const fs::path& path) {
  const std::string ending = ending_of(path);
  if (ending == ".csv") return TableFormat::csv;
  return ending == ".jsonl" || ending == ".ndjson" ? TableFormat::jsonl : TableFormat::tsv;
}

bool ends_like_table(const fs::path& path) {
  return format_of(path) != TableFormat::tsv || ending_of(path) == ".tsv";
}

std::vector<fs::path> table_files(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    if (entry.is_directory() || entry.path().filename().string().starts_with('.')) continue;
    if (ends_like_table(entry.path())) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (!files.empty()) return files;
  throw DataError(fmt::format(
      "{}: the folder has no file that ends in .tsv, .csv, .jsonl or .ndjson", path.string()));
}

std::vector<std::string> first_cells(const fs::path& path) {
  const TableFormat format = format_of(path);
  if (format == TableFormat::jsonl) return {};
  const std::string text = read_raw_text(path);
  const auto rows = format == TableFormat::csv ? comma_rows(text, path) : tab_rows(text);
  return rows.empty() ? std::vector<std::string>() : rows.front().cells;
}

std::vector<TableRow> read_table(const fs::path& path, const std::string& columns,
                                 const Names& usual, bool skip_bad_lines, SkippedLines& skipped) {
  require_narrow_encoding(path);
  const std::string text = read_raw_text(path);
  const TableFormat format = format_of(path);
  const Names names = columns.empty() ? usual : column_names(columns, usual.size());
  GoodRows rows(path, skip_bad_lines);
  if (format == TableFormat::jsonl) {
    add_objects(rows, text, names, path);
  } else {
    const auto all = format == TableFormat::csv ? comma_rows(text, path) : tab_rows(text);
    if (!all.empty()) add_cells(rows, all, places_of(all, columns, usual, path), names);
  }
  const Index skipped_before = skipped.total();
  std::vector<TableRow> read = rows.finish(std::ssize(lines_of(text)), skipped);
  if (!read.empty()) return read;
  const Index bad = skipped.total() - skipped_before;
  const std::string why = bad == 0 ? "rows" : fmt::format("good rows; skipped: {}", bad);
  throw DataError(fmt::format("{}: the file has no {}", path.string(), why));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
