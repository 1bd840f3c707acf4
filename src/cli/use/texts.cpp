// Lines of a stream, or the cells of a table's column.
#include "cli/use/texts.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "cli/frame/streams.hpp"
#include "headroom/base/error.hpp"
#include "headroom_runs/runs/run_folder.hpp"
#include "headroom_runs/runs/run_settings.hpp"
#include "headroom_runs/tables/table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

/// The first of the columns that the run's table had, or "".
std::string column_of_run(const SavedModel& saved) {
  const fs::path folder = folder_of(saved.origin);
  if (!fs::exists(folder / "config.json")) return "";
  const Record config = RunFolder(folder, IfExists::resume).read_config();
  const Record::json_pointer place("/task/columns");
  if (!config.contains(place) || !config[place].is_string()) return "";
  const auto columns = config[place].get<std::string>();
  return columns.substr(0, columns.find(','));
}

}  // namespace

TextSource::TextSource(const std::string& file, const std::string& column, bool skip_bad_lines,
                       const SavedModel& saved)
    : name_(file) {
  if (file == "-" || !ends_like_table(file)) {
    if (!column.empty()) {
      throw UsageError(
          fmt::format("--column {} needs a table: a file that ends in .tsv, .csv or "
                      ".jsonl",
                      column));
    }
    if (file == "-") {
      lines_ = &std::cin;
      return;
    }
    std::error_code failed;
    if (fs::is_directory(file, failed)) throw FileError(fmt::format("{}: is a folder", file));
    file_ = std::make_unique<std::ifstream>(file, std::ios::binary);
    if (!*file_) throw FileError(fmt::format("{}: cannot be opened", file));
    lines_ = file_.get();
    return;
  }
  SkippedLines skipped;
  const std::string usual = saved.config.kind == ModelKind::seq2seq ? "source" : "text";
  std::string chosen = column.empty() ? column_of_run(saved) : column;
  if (chosen.empty()) {  // a table without names of columns, as it was for training
    const std::vector<std::string> first = first_cells(file);
    const bool named = std::find(first.begin(), first.end(), usual) != first.end();
    if (first.size() == 2 && !named) chosen = "1";
  }
  for (TableRow& row : read_table(file, chosen, {usual}, skip_bad_lines, skipped)) {
    cells_.push_back(std::move(row.cells[0]));
  }
  if (skipped.total() > 0) print_error("{}\n", skipped.text());
}

std::vector<std::string> TextSource::next(std::size_t most) {
  std::vector<std::string> texts;
  if (lines_ == nullptr) {
    for (; next_ < cells_.size() && texts.size() < most; ++next_) texts.push_back(cells_[next_]);
    return texts;
  }
  for (std::string line; texts.size() < most && std::getline(*lines_, line); ++next_) {
    if (next_ == 0 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // byte order mark
    if (!line.empty() && line.back() == '\r') line.pop_back();
    texts.push_back(std::move(line));
  }
  if (lines_->bad()) throw FileError(fmt::format("{}: cannot be read", name_));
  return texts;
}

bool TextSource::is_typed() const { return lines_ == &std::cin && isatty(STDIN_FILENO) != 0; }

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
