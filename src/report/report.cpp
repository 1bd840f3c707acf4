// The page: records, findings, styles and scripts put together into one file.
#include "headroom/report/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "report/compose_page.hpp"
#include "report/page.hpp"
#include "report/records.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

constexpr Index most_points = 400;                 // of a curve on the page; more cannot be seen
constexpr std::size_t most_telemetry_points = 80;  // its charts are small and many

/// Of many lines without an evaluation every n-th and each model's last; those with one are all
/// kept.
Record thinned(const Record& metrics, const Record& measures) {
  const auto evaluated = [&measures](const Record& line) {
    return line.contains("validation_loss") ||
           std::any_of(measures.begin(), measures.end(), [&line](const Record& measure) {
             return line.contains(measure["key"].get<std::string>());
           });
  };
  std::map<std::string, Index> plain_lines, seen;
  std::map<std::string, const Record*> last;
  for (const Record& line : metrics) {
    if (!evaluated(line)) ++plain_lines[line.value("model", "")];
    last[line.value("model", "")] = &line;
  }
  Record result = Record::array();
  for (const Record& line : metrics) {
    const std::string model = line.value("model", "");
    const Index every = plain_lines[model] / most_points + 1;
    const bool drawn = evaluated(line) || seen[model]++ % every == 0;
    if (drawn || &line == last[model]) result.push_back(line);
  }
  return result;
}

/// Every n-th line and the last, with four digits: more cannot be seen.
Record thinned_telemetry(const Record& lines) {
  const std::function<void(Record&)> round_all = [&round_all](Record& value) {
    if (value.is_number_float()) {
      value = rounded_number(value.get<double>(), 4);
    } else if (value.is_structured()) {
      for (Record& part : value) round_all(part);
    }
  };
  Record result = Record::array();
  const std::size_t every = lines.size() / most_telemetry_points + 1;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i % every != 0 && i + 1 != lines.size()) continue;
    result.push_back(lines[i]);
    round_all(result.back());
  }
  return result;
}

/// Weights with three decimals: more cannot be seen, and the page stays small.
void round_maps(Record& examples) {
  for (Record& example : examples) {
    for (Record& map : example["maps"]) {
      for (Record& row : map["rows"]) {
        for (Record& weight : row) {
          if (weight.is_number()) weight = std::round(weight.get<double>() * 1000) / 1000;
        }
      }
    }
  }
}

Record for_page(const Record& run) {
  check_run(run);
  Record result = run;
  result["models"] = models_of(run);
  result["measures"] = measures_of(run);
  result["findings"] = findings(run);
  if (run.contains("metrics")) result["metrics"] = thinned(run["metrics"], result["measures"]);
  if (run.contains("telemetry")) result["telemetry"] = thinned_telemetry(run["telemetry"]);
  if (run.contains("examples")) round_maps(result["examples"]);
  return result;
}

}  // namespace

std::string report_page(const Record& run, const std::string& chart_js) {
  const Record contents = for_page(run);
  std::string script(page::telemetry_js);
  script += page::page_js;
  return compose_page(contents["title"], contents["findings"]["summary"], contents, chart_js,
                      script);
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

void write_report(const Record& run, const fs::path& file) {
  const std::string chart = chart_js();
  write_file(file, report_page(run, chart));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
