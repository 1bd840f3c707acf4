// The page of a study, and its tables in other forms.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "headroom/base/names.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/files.hpp"
#include "headroom_lab/report/study.hpp"
#include "report/compose_page.hpp"
#include "report/page.hpp"
#include "report/page_table.hpp"
#include "report/study_numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The steps at which the first run of each arm removes heads, by kind of attention.
Record timelines(const StudyResults& results) {
  Record all = Record::array();
  std::map<std::string, const CellResult*> cells;
  for (const CellResult& cell : results.cells) cells[cell.key] = &cell;
  std::set<std::pair<Index, std::string>> known;
  for (const StudyRole& role : results.roles) {
    const CellResult& cell = *cells.at(role.cell);
    if (cell.timeline.empty() || !known.emplace(role.condition, role.arm).second) continue;
    std::map<std::string, Index> alive = cell.kept;
    Record events = Record::array();
    for (auto event = cell.timeline.rbegin(); event != cell.timeline.rend(); ++event) {
      if (event->removed.empty() && event->regrown.empty()) continue;
      events.insert(events.begin(), Record{{"step", event->step}, {"alive", alive}});
      for (const HeadId& head : event->removed) ++alive[name_of(head.kind)];
      for (const HeadId& head : event->regrown) --alive[name_of(head.kind)];
    }
    all.push_back({{"condition", role.condition},
                   {"arm", role.arm},
                   {"seed", cell.seed},
                   {"steps", cell.steps},
                   {"begin", alive},
                   {"events", events}});
  }
  return all;
}

Record for_page(const StudySection& section) {
  Record tables = Record::array();
  for (const Table& table : section.tables) tables.push_back(headroom::for_page(table));
  return {{"name", section.name}, {"finding", json_of(section.finding)}, {"tables", tables}};
}

/// The ten sections, then where the runs come from.
std::vector<StudySection> all_sections(const StudyResults& results) {
  std::vector<StudySection> sections = study_sections(results);
  sections.push_back(study_provenance(results));
  return sections;
}

Record contents(const StudyResults& results) {
  Record page = json_of(results);
  page.erase("cells");
  page.erase("roles");
  page.erase("scores");
  page["curves"] = learning_curves(results);
  page["provenance"].erase("runs");  // results.json and tables/cells.csv have them
  page["provenance"].erase("latency");
  for (std::size_t i = 0; i < results.means.size(); ++i) {
    const StudyMean& mean = results.means[i];
    const auto time = latency_of(results, cells_of(results, mean.condition, mean.arm));
    if (time) page["means"][i]["latency"] = *time;
  }
  page["kind"] = "study";
  page["cells_done"] = results.cells.size();
  page["sections"] = Record::array();
  for (const StudySection& section : study_sections(results)) {
    page["sections"].push_back(for_page(section));
  }
  page["origin"] = for_page(study_provenance(results));
  page["timelines"] = timelines(results);
  page["groups"] = json_of(groups_of(results));
  Record measures = Record::array();
  for (const Record& measure : results.declaration.at("measures")) {
    const auto key = measure.get<std::string>();
    measures.push_back({{"key", key},
                        {"name", measure_in_words(key)},
                        {"unit", is_share(key) ? "%" : ""},
                        {"higher", higher_is_better(key)}});
  }
  page["measures"] = measures;
  return page;
}

/// "07-comparisons-of-the-family.csv", by the number of the section and the title.
std::string table_file(Index section, const Table& table) {
  std::string name = fmt::format("{:02}", section);
  bool gap = true;
  for (const char c : words(table.title)) {
    const auto letter = static_cast<unsigned char>(c);
    const bool word = std::isalnum(letter) != 0;
    if (word && gap) name += '-';
    if (word) name += char(std::tolower(letter));
    gap = !word;
  }
  return name + ".csv";
}

/// Whether a file has a name as write_study_tables() gives it.
bool is_table_file(const std::string& name) {
  const auto digit = [&](std::size_t i) { return name[i] >= '0' && name[i] <= '9'; };
  return name.size() > 7 && digit(0) && digit(1) && name[2] == '-' && name.ends_with(".csv");
}

}  // namespace

std::string study_page(const StudyResults& results, const std::string& chart_js) {
  const Record& declaration = results.declaration;
  std::string title = declaration.value("question", std::string());
  if (title.empty()) title = "Study " + declaration.at("name").get<std::string>();
  const std::string summary = study_sections(results).back().finding.title + ".";
  return compose_page(title, summary, contents(results), chart_js, page::study_js);
}

std::string study_text(const StudyResults& results, const TerminalStyle& style) {
  std::string text;
  Index number = 0;
  for (const StudySection& section : all_sections(results)) {
    text += emphasised(fmt::format("{}. {}", ++number, section.name), Emphasis::strong, style) +
            "\n" + wrapped(section.finding.title, style.columns, 4) + "\n";
    for (const Table& table : section.tables) {
      const std::string title = words(table.title);
      text += "\n";
      if (table.shown.empty()) {
        text += wrapped(title, style.columns, 4) + "\n" + table_text(table, style, 4);
      } else {  // large, or of interest to few
        const std::string file = table_file(number, table);
        text += wrapped(fmt::format("{}: tables/{}", title, file), style.columns, 4) + "\n";
      }
    }
    text += "\n";
  }
  return text;
}

void write_study_tables(const StudyResults& results, const std::filesystem::path& folder) {
  make_folder(folder);
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (is_table_file(file.path().filename().string())) std::filesystem::remove(file.path());
  }
  Index number = 0;
  for (const StudySection& section : all_sections(results)) {
    ++number;
    for (const Table& table : section.tables) {
      write_file(folder / table_file(number, table), csv_text(table));
    }
  }
  write_file(folder / "cells.csv", csv_text(cells_table(results)));
  write_file(folder / "head-scores.csv", csv_text(head_scores_table(results)));
}

void write_study_page(const StudyResults& results, const std::filesystem::path& file) {
  write_file(file, study_page(results, chart_js()));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
