// The section of a study's page that says where, when and by what its runs were trained.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>
#include <vector>

#include "headroom/base/text.hpp"
#include "headroom_lab/report/study.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::string title_of(const StudyProvenance& from) {
  if (!from.warning.empty()) return from.warning;
  if (from.runs.empty()) return "No record says where and when the runs were trained";
  const std::string first = from.from.substr(0, 10), last = from.to.substr(0, 10);
  return fmt::format("{} runs and measurements took {} in all on {} machine{}, {}",
                     from.runs.size(), clock_text(from.seconds), from.machines.size(),
                     from.machines.size() == 1 ? "" : "s",
                     first == last ? "on " + first : fmt::format("from {} to {}", first, last));
}

Table facts(const StudyResults& results) {
  const StudyProvenance& from = results.provenance;
  Table table{.title = "Provenance", .columns = {"", "value"}};
  const auto row = [&](const char* name, const std::string& value) {
    if (!value.empty()) table.rows.push_back({name, value});
  };
  const auto joined = [](const auto& list) { return fmt::format("{}", fmt::join(list, "; ")); };
  row("version of headroom", joined(from.versions));
  row("command", joined(from.commands));
  row("declaration.json", from.declaration);
  row("machines", joined(from.machines));
  row("processors", joined(from.processors));
  row("BLAS", joined(from.blas));
  row("threads of a run", joined(from.threads));
  row("first run ended", from.from);
  row("last run ended", from.to);
  if (!from.runs.empty()) row("time of all runs", clock_text(from.seconds));
  if (from.resumed > 0) row("resumed runs, last part timed", std::to_string(from.resumed));
  if (from.unrecorded > 0) row("runs without a record", std::to_string(from.unrecorded));
  return table;
}

/// The time of the runs of each arm and control.
Table times(const StudyResults& results) {
  std::map<std::string, std::map<std::string, double>> seconds;  // by arm and cell
  for (const StudyRole& role : results.roles) {
    const auto run = results.provenance.runs.find("cell-" + role.cell);
    if (run == results.provenance.runs.end() || run->second.resumed) continue;
    seconds[role.arm][role.cell] = run->second.seconds;
  }
  Table table{.shown = "folded",
              .title = "Time of the runs",
              .columns = {"arm", "runs", "seconds of a run", "fastest", "slowest"}};
  for (const std::string& arm : results.arms) {
    if (!seconds.contains(arm)) continue;
    double sum = 0, least = seconds[arm].begin()->second, most = least;
    for (const auto& [cell, took] : seconds[arm]) {
      sum += took;
      least = std::min(least, took);
      most = std::max(most, took);
    }
    table.rows.push_back(
        {arm, std::ssize(seconds[arm]), sum / double(seconds[arm].size()), least, most});
  }
  return table;
}

}  // namespace

StudySection study_provenance(const StudyResults& results) {
  StudySection section{
      "Provenance",
      {title_of(results.provenance),
       "The records of the runs, work/JOB.json. The hash is that of the file declaration.json "
       "(FNV-1a, 64 bits). Runs share the processor with others, so their times are no "
       "measurements of speed. All other results are the same, to the digit, on machines of the "
       "same kind."},
      {facts(results), times(results)}};
  std::erase_if(section.tables, [](const Table& table) { return table.rows.empty(); });
  return section;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
