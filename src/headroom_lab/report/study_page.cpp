// The page of a study.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "headroom/base/names.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom_lab/report/study.hpp"
#include "report/compose_page.hpp"
#include "report/page.hpp"
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

/// The number of parameters of all models of the study, by their number of heads.
Record model_sizes(const StudyResults& results) {
  std::map<std::pair<Index, Index>, Index> count;
  for (const CellResult& cell : results.cells) ++count[{cell.heads(), cell.parameters}];
  Record all = Record::array();
  for (const auto& [size, runs] : count) {
    all.push_back({{"heads", size.first}, {"parameters", size.second}, {"runs", runs}});
  }
  return all;
}

/// Groups of conditions that differ only in the number of removed heads. A chart shows one group.
Record groups(const StudyResults& results) {
  Record all = Record::array();
  for (std::size_t c = 0; c < results.conditions.size(); ++c) {
    std::string text;
    for (const auto& [name, level] : results.levels[c]) {
      if (name == "prune") continue;
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, plain_text(level));
    }
    const auto known = std::find_if(all.begin(), all.end(),
                                    [&](const Record& group) { return group["text"] == text; });
    if (known != all.end()) {
      (*known)["conditions"].push_back(c);
    } else {
      all.push_back({{"text", text}, {"conditions", Record::array({c})}});
    }
  }
  return all;
}

Record contents(const StudyResults& results) {
  Record page = json_of(results);
  page.erase("cells");
  page.erase("roles");
  page["kind"] = "study";
  page["cells_done"] = results.cells.size();
  page["sections"] = json_of(study_sections(results));
  page["timelines"] = timelines(results);
  page["sizes"] = model_sizes(results);
  page["groups"] = groups(results);
  Record measures = Record::array();
  for (const Record& measure : results.declaration.at("measures")) {
    const auto key = measure.get<std::string>();
    const bool loss = key.ends_with("loss");
    measures.push_back({{"key", key},
                        {"name", measure_in_words(key)},
                        {"unit", loss ? "" : "%"},
                        {"higher", higher_is_better(key)}});
  }
  page["measures"] = measures;
  Record acceptable = Record::array();
  for (const AcceptableLoss& loss : acceptable_losses(results)) {
    acceptable.push_back({{"condition", loss.condition}, {"arm", loss.arm}, {"heads", loss.heads}});
  }
  page["acceptable"] = acceptable;
  Record tried = Record::array();
  for (const StudyContrast* contrast : from_all_heads(results)) {
    tried.push_back({{"condition", contrast->condition},
                     {"arm", contrast->arm},
                     {"decides", contrast->decides() && study_warning(results).empty()}});
  }
  page["tried"] = tried;
  return page;
}

}  // namespace

std::string study_page(const StudyResults& results, const std::string& chart_js) {
  const Record& declaration = results.declaration;
  std::string title = declaration.value("question", std::string());
  if (title.empty()) title = "Study " + declaration.at("name").get<std::string>();
  const std::string summary = study_sections(results).back().finding.title + ".";
  return compose_page(title, summary, contents(results), chart_js, page::study_js);
}

void write_study_page(const StudyResults& results, const std::filesystem::path& file) {
  write_file(file, study_page(results, chart_js()));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
