// Compares runs.
#include "headroom_lab/report/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/text.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"
#include "headroom/train/measures.hpp"
#include "headroom_lab/report/report.hpp"
#include "headroom_runs/runs/run_folder.hpp"
#include "report/compose_page.hpp"
#include "report/page.hpp"
#include "report/page_table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t longest_value = 60;

/// Short names of folders, whole paths if two have the same.
std::vector<std::string> names_of_folders(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  for (const fs::path& folder : folders) {
    const fs::path whole = fs::absolute(folder).lexically_normal();
    names.push_back((whole.has_filename() ? whole : whole.parent_path()).filename().string());
  }
  const std::set<std::string> different(names.begin(), names.end());
  if (different.size() == names.size()) return names;
  names.clear();
  for (const fs::path& folder : folders) names.push_back(folder.string());
  return names;
}

/// A row for each key whose values are not all equal, in the order of the keys.
Table differing(const std::vector<std::string>& names,
                const std::vector<std::map<std::string, std::string>>& values, bool all_rows) {
  Table table{.columns = {""}};
  table.columns.insert(table.columns.end(), names.begin(), names.end());
  std::set<std::string> keys;
  for (const auto& of_run : values) {
    for (const auto& [key, value] : of_run) keys.insert(key);
  }
  for (const std::string& key : keys) {
    std::vector<Value> row{key};
    std::set<std::string> different;
    for (const auto& of_run : values) {
      const auto found = of_run.find(key);
      const std::string value = found == of_run.end() ? "" : found->second;
      different.insert(value);
      row.emplace_back(value);
    }
    if (all_rows || different.size() > 1) table.rows.push_back(std::move(row));
  }
  return table;
}

/// Values by their names, "training.steps", as texts.
std::map<std::string, std::string> flat(const Record& record, const std::string& prefix = "") {
  std::map<std::string, std::string> all;
  for (const auto& [key, value] : record.items()) {
    if (key == "vocabulary") {
      all[prefix + key] = "that of the model it begins with";
    } else if (value.is_object()) {
      all.merge(flat(value, prefix + key + "."));
    } else {
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      all[prefix + key] = printable(text, longest_value);
    }
  }
  return all;
}

/// The numbers of a summary that a reader compares.
std::map<std::string, std::string> measures_of(const Record& summary) {
  std::map<std::string, std::string> all;
  for (const char* key : {"steps", "best_step", "parameters", "heads_alive"}) {
    if (summary.contains(key) && summary[key].is_number()) {
      all[key] = figure_text(summary[key].get<double>());
    }
  }
  const Record& test = summary.contains("test")    ? summary["test"]
                       : summary.contains("after") ? summary["after"]
                                                   : Record::object();
  for (const auto& [key, value] : test.items()) {
    if (value.is_number()) all["test " + key] = fmt::format("{:.4g}", value.get<double>());
  }
  return all;
}

std::vector<HeadState> heads_of_model(const fs::path& folder) {
  std::vector<HeadState> heads;
  const SavedModel saved = load_model(checkpoint_of(folder));
  for (const HeadId& head : live_heads(*saved.model)) heads.push_back({head, false});
  for (const HeadId& head : saved.removed) heads.push_back({head, true});
  std::sort(heads.begin(), heads.end(),
            [](const HeadState& a, const HeadState& b) { return a.id < b.id; });
  return heads;
}

}  // namespace

RunsComparison compare_runs(const std::vector<fs::path>& folders) {
  if (folders.size() < 2) throw UsageError("a comparison needs at least two runs");
  const std::vector<std::string> names = names_of_folders(folders);
  RunsComparison all;
  std::vector<std::map<std::string, std::string>> settings, measures;
  std::map<std::string, std::vector<Chart::Series>> curves;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const ReportRecord run = read_run(folders[i]);
    settings.push_back(flat(run.config));
    const fs::path summary = folders[i] / "summary.json";
    measures.push_back(measures_of(
        fs::exists(summary) ? parse_json(read_file(summary), summary.string()) : Record::object()));
    std::map<std::string, std::map<std::string, Chart::Series>> own;  // by key and model
    for (const MetricsLine& line : run.metrics) {
      for (const auto& [key, value] : line.numbers) {
        own[key][line.model].points.emplace_back(double(line.step), value);
      }
    }
    for (auto& [key, models] : own) {
      for (auto& [model, series] : models) {
        series.name = models.size() > 1 ? names[i] + " " + model : names[i];
        curves[key].push_back(std::move(series));
      }
    }
    all.runs.push_back({names[i], heads_of_model(folders[i])});
  }
  all.measures = differing(names, measures, true);
  all.measures.title = "Measures of the test set, and sizes";
  all.settings = differing(names, settings, false);
  all.settings.title =
      all.settings.rows.empty() ? "The settings are the same" : "Settings that differ";
  const auto add = [&](const std::string& key, const std::string& name, const char* unit) {
    const auto found = curves.find(key);
    if (found != curves.end()) all.curves.push_back({key, name, unit, std::move(found->second)});
  };
  for (const Measure& measure : quality_measures) add(measure.key, measure.name, "%");
  add("validation_loss", "validation loss", "");
  add("loss", "training loss", "");
  return all;
}

std::string comparison_text(const RunsComparison& comparison, const TerminalStyle& style) {
  std::string text;
  for (const Table* table : {&comparison.measures, &comparison.settings}) {
    text += fmt::format("{}{}\n{}", text.empty() ? "" : "\n",
                        emphasised(words(table->title), Emphasis::strong, style),
                        table->rows.empty() ? "" : table_text(*table, style, 2));
  }
  text += fmt::format("\n{}\n", emphasised("Heads that are left", Emphasis::strong, style));
  for (const ComparedRun& run : comparison.runs) {
    const auto left = std::count_if(run.heads.begin(), run.heads.end(),
                                    [](const HeadState& head) { return !head.removed; });
    text += fmt::format("  {}: {} of {}\n", run.name, left, run.heads.size());
  }
  return text;
}

std::string comparison_page(const RunsComparison& comparison, const std::string& chart_js) {
  Record contents = json_of(comparison);
  contents["measures"] = for_page(comparison.measures);
  contents["settings"] = for_page(comparison.settings);
  std::vector<std::string> names;
  for (const ComparedRun& run : comparison.runs) names.push_back(run.name);
  return compose_page(
      fmt::format("{} runs", names.size()),
      fmt::format("{}. Each is one run of one seed: two runs that differ in nothing "
                  "but the seed differ, too.",
                  fmt::join(names, ", ")),
      contents, chart_js, page::comparison_js);
}

void write_comparison_page(const RunsComparison& comparison, const fs::path& file) {
  write_file(file, comparison_page(comparison, chart_js()));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
