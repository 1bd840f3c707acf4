// Columns of a file: tab-separated, comma-separated, or a JSON object in every line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headroom/data/text_lines.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// How a file keeps its rows: cells between tabs; between commas, quoted where they hold commas,
/// quotes or line ends (RFC 4180); an object of JSON in every line.
enum class TableFormat { tsv, csv, jsonl };

/// The format by the ending of the name, in small or capital letters: .csv; .jsonl and .ndjson;
/// .tsv and all others.
TableFormat format_of(const std::filesystem::path& path);
/// Whether a name ends in .tsv, .csv, .jsonl or .ndjson, in small or capital letters.
bool ends_like_table(const std::filesystem::path& path);

/// The files that a path means: itself, or, in the order of their names, those of a folder that end
/// like a table and are not hidden. Throws DataError for a folder without any.
std::vector<std::filesystem::path> table_files(const std::filesystem::path& path);

/// Throws DataError, naming the encoding and the command that converts it, for a file in UTF-16 or
/// UTF-32, and for a spreadsheet. A file that cannot be read passes.
void require_narrow_encoding(const std::filesystem::path& path);

/// A row: the line that it begins in, from 1, its cells without spaces at their ends, and the file
/// among table_files() that has it.
struct TableRow {
  Index line = 0;
  std::vector<std::string> cells;
  std::size_t file = 0;
};

/// The cells of a table's first row, none of a file with objects. Throws FileError, DataError for a
/// file without text.
std::vector<std::string> first_cells(const std::filesystem::path& path);

/// Reads as many columns of a file as `usual` has names, usually two. `columns` is "NAME,NAME" or
/// "NUMBER,NUMBER", from 1. If it is empty, the columns are called `usual`; a file without these
/// names in its first line has them in this order and no others. Lines without text are ignored.
/// Throws FileError if the file cannot be read, DataError `file:line: ...` for a file without rows,
/// in UTF-16 or UTF-32, or without the columns, and for the first bad row: not UTF-8, too few or
/// too many cells, an empty cell, a quote that does not end, malformed JSON. With `skip_bad_lines`
/// such rows are counted in `skipped` and left out.
std::vector<TableRow> read_table(const std::filesystem::path& path, const std::string& columns,
                                 const std::vector<std::string>& usual, bool skip_bad_lines,
                                 SkippedLines& skipped);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
