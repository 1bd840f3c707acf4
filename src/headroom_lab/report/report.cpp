// The page: records, findings, styles and scripts combined into one file.
#include "headroom_lab/report/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "report/compose_page.hpp"
#include "report/findings.hpp"
#include "report/page.hpp"
#include "report/run_numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

constexpr Index most_points = 400;                 // of a curve on the page; more cannot be seen
constexpr std::size_t most_telemetry_points = 80;  // its charts are small and many
constexpr int telemetry_digits = 4;

/// Every n-th of the lines without an evaluation, each model's last line, and all with one.
std::vector<MetricsLine> thinned(const std::vector<MetricsLine>& metrics,
                                 const std::vector<MeasureRecord>& measures) {
  const auto evaluated = [&measures](const MetricsLine& line) {
    return line.numbers.count("validation_loss") > 0 ||
           std::any_of(measures.begin(), measures.end(), [&line](const MeasureRecord& measure) {
             return line.numbers.count(measure.key) > 0;
           });
  };
  std::map<std::string, Index> plain_lines, seen;
  std::map<std::string, const MetricsLine*> last;
  for (const MetricsLine& line : metrics) {
    if (!evaluated(line)) ++plain_lines[line.model];
    last[line.model] = &line;
  }
  std::vector<MetricsLine> result;
  for (const MetricsLine& line : metrics) {
    const Index every = plain_lines[line.model] / most_points + 1;
    const bool drawn = evaluated(line) || seen[line.model]++ % every == 0;
    if (drawn || &line == last[line.model]) result.push_back(line);
  }
  return result;
}

void round_all(std::vector<double>& numbers) {
  for (double& number : numbers) number = rounded_number(number, telemetry_digits);
}

/// Every n-th line and the last, with few digits.
std::vector<TelemetryLine> thinned(const std::vector<TelemetryLine>& lines) {
  std::vector<TelemetryLine> result;
  const std::size_t every = lines.size() / most_telemetry_points + 1;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i % every != 0 && i + 1 != lines.size()) continue;
    TelemetryLine& line = result.emplace_back(lines[i]);
    for (BlockNumbers* blocks : {&line.gradient_norm, &line.update_ratio}) {
      BlockNumbers::Fields::each(
          [&](const char*, auto member, Presence) { round_all(blocks->*member); });
    }
    for (std::vector<double>* list : {&line.gate_gradient, &line.entropy, &line.confidence}) {
      round_all(*list);
    }
  }
  return result;
}

/// Weights with three decimals: more cannot be seen, and the page stays small.
void round_maps(ExampleRecord& example) {
  for (MapRecord& map : example.maps) {
    for (std::vector<double>& row : map.rows) {
      for (double& weight : row) weight = std::round(weight * 1000) / 1000;
    }
  }
}

/// The JSON that the page's scripts read: the run with fewer points, its findings, and which rows
/// of before_after are compared.
Record for_page(const ReportRecord& run, const RunFindings& found) {
  ReportRecord shown = run;
  shown.models = models_of(run);
  shown.measures = measures_of(run);
  shown.metrics = thinned(run.metrics, shown.measures);
  shown.telemetry = thinned(run.telemetry);
  for (ExampleRecord& example : shown.examples) round_maps(example);
  for (LifeLine& line : shown.lives) {
    if (line.example) round_maps(*line.example);
  }
  Record contents = json_of(shown);
  contents["models"] = shown.models;  // present even when empty
  contents["findings"] = json_of(found);
  if (const auto compared = comparison_of(run)) {
    contents["compared"] = {{"before", compared->before}, {"after", compared->after}};
    if (compared->as_long) contents["compared"]["as_long"] = *compared->as_long;
    const auto step = step_change(run, *compared), attention = attention_change(run, *compared);
    if (quality_by_chance(run)) contents["compared"]["by_chance"] = true;
    if (step && step->noisy()) contents["compared"]["noisy"].push_back("step_ms");
    if (attention && attention->noisy()) contents["compared"]["noisy"].push_back("attention_ms");
  }
  return contents;
}

}  // namespace

std::string report_page(const ReportRecord& run, const std::string& chart_js) {
  const RunFindings found = findings(run);
  std::string script(page::telemetry_js);
  script += page::lives_js;
  script += page::page_js;
  return compose_page(run.title, found.summary, for_page(run, found), chart_js, script);
}

fs::path find_chart_js() {
  std::error_code failed;
  if (const char* named = std::getenv("HEADROOM_CHART_JS"); named != nullptr && *named != '\0') {
    return fs::is_regular_file(named, failed) ? named : fs::path();
  }
  constexpr std::array<const char*, 4> places = {
      "/usr/share/javascript/chart.js/chart.min.js", "/usr/share/javascript/chart.js/Chart.min.js",
      "/usr/share/nodejs/chart.js/dist/chart.min.js", "/usr/local/share/chart.js/chart.min.js"};
  for (const char* place : places) {
    if (fs::is_regular_file(place, failed)) return place;
  }
  return {};
}

std::string chart_js() {
  const fs::path file = find_chart_js();
  if (!file.empty()) return read_file(file);
  throw FileError(
      "report: Chart.js was not found (apt-get install libjs-chart.js, or set HEADROOM_CHART_JS "
      "to a chart.min.js of version 3)");
}

void write_report(const ReportRecord& run, const fs::path& file) {
  const std::string chart = chart_js();
  write_file(file, report_page(run, chart));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
