// Reads the rows of a task's files and divides them.
#include "tables/set_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/base/text.hpp"
#include "headroom/data/file_tasks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// The end of a set among the sources, which begins at `begin`: where its share of them ends, but
/// after at least one source. `before` are the shares of the sets before it.
std::size_t end_of_set(Index before, Index share, Index all, std::size_t sources,
                       std::size_t begin) {
  if (share == 0) return begin;
  const auto place = std::size_t(double(before + share) / double(all) * double(sources) + 0.5);
  return std::min(std::max(place, begin + 1), sources);
}

/// Divides rows by their keys, in the order of a hash of the first of the texts that share a key.
Sets divided(TableRows rows, const std::function<std::string(const TableRow&)>& key_of,
             const Shares& shares, const fs::path& path) {
  // The hash alone has similar numbers for texts that begin alike, which would be in one set then.
  using Place = std::pair<std::uint32_t, std::string>;
  std::map<std::string, Place> place_of;
  std::vector<std::string> keys;
  for (const TableRow& row : rows) {
    keys.push_back(key_of ? key_of(row) : row.cells[0]);
    const Place here{Rng(0, row.cells[0]).word(), row.cells[0]};
    const auto [known, is_new] = place_of.emplace(keys.back(), here);
    if (!is_new) known->second = std::min(known->second, here);
  }
  std::set<std::pair<Place, std::string>> sources;
  for (const auto& [key, place] : place_of) sources.emplace(place, key);
  const Index all = shares.train + shares.validation + shares.test;
  const Index wanted =
      Index(shares.train > 0) + Index(shares.validation > 0) + Index(shares.test > 0);
  if (std::ssize(sources) < wanted) {
    throw DataError(
        fmt::format("{}: {} different source{} cannot be divided into {} sets", path.string(),
                    sources.size(), sources.size() == 1 ? "" : "s", wanted),
        {"split"});
  }
  const std::size_t count = sources.size();
  const std::size_t test = end_of_set(0, shares.test, all, count, 0);
  const std::size_t held = end_of_set(shares.test, shares.validation, all, count, test);
  std::map<std::string, Split> set_of;
  std::size_t place = 0;
  for (const auto& [hash, key] : sources) {
    set_of[key] = place < test ? Split::test : place < held ? Split::validation : Split::train;
    ++place;
  }
  Sets sets;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    TableRow& row = rows[i];
    switch (set_of.at(keys[i])) {
      case Split::train: sets.train.push_back(std::move(row)); break;
      case Split::validation: sets.validation.push_back(std::move(row)); break;
      case Split::test: sets.test.push_back(std::move(row)); break;
    }
  }
  return sets;
}

/// The lines of a text that are not empty, without spaces at their ends.
TableRows lines_as_rows(const fs::path& path) {
  TableRows rows;
  const std::string text = read_text(path);
  Index number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const std::size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t");
    if (first == line.npos) continue;
    rows.push_back({number, {std::string(line.substr(first, last + 1 - first))}});
  }
  return rows;
}

}  // namespace

Sets SetReader::read() {
  Shares shares = table_.shares;
  if (!table_.validation.empty()) shares.validation = 0;
  if (!table_.test.empty()) shares.test = 0;
  Sets sets = divided(rows_of(data_.data), key_of_, shares, data_.data);
  if (!table_.validation.empty()) sets.validation = rows_of(table_.validation);
  if (!table_.test.empty()) sets.test = rows_of(table_.test);
  return sets;
}

TableRows SetReader::read_file_of(const fs::path& path) {
  if (columns_.size() == 1 && !ends_like_table(path)) return lines_as_rows(path);
  return read_table(path, table_.columns, columns_, data_.skip_bad_lines, skipped_);
}

TableRows SetReader::rows_of(const fs::path& path) {
  TableRows rows;
  const std::vector<fs::path> files = table_files(path);
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (TableRow& row : read_file_of(files[i])) {
      rows.push_back(std::move(row));
      rows.back().file = i;
    }
  }
  if (!fault_) return rows;
  std::string last;  // the fault of the last row that was left out
  std::erase_if(rows, [&](const TableRow& row) {
    const std::string fault = fault_(row);
    if (fault.empty()) return false;
    ++skipped_.count_by_reason[fault];
    last = fault;
    return true;
  });
  if (rows.empty() && !last.empty()) {
    const bool is_long = last.starts_with("longer");
    throw DataError(
        fmt::format("{}: all rows are {}{}", path.string(), last, is_long ? " symbols" : ""),
        is_long ? std::vector<std::string>{"longest"} : std::vector<std::string>());
  }
  return rows;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
