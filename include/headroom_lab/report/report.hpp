// The report: one self-contained page from a run's records. It depends on records, not on models.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom_lab/report/report_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Writes the page of a run: curves, differences between layouts, heads over time, before and
/// after, telemetry and the life of every head, attention maps, importance, configuration. It needs
/// no network; Chart.js is read from this machine (see find_chart_js) and embedded. A section whose
/// records are missing is left out, so the same function serves a comparison of two models and the
/// training of one. Throws FileError when Chart.js is not on this machine (with the remedy) or the
/// page cannot be written, DataError when parts of the record do not fit together (see check()).
void write_report(const ReportRecord& run, const std::filesystem::path& file);

/// The page as text, with the given Chart.js in it.
std::string report_page(const ReportRecord& run, const std::string& chart_js);

/// The difference of two shares of n examples that chance exceeds in one of twenty cases when both
/// have the same expectation.
double difference_by_chance(double a, double b, Index n);

/// A section of the page: a title that states the finding, and a caption that explains the figure.
struct Finding {
  std::string title{}, caption{};
  bool operator==(const Finding&) const = default;
  using T = Finding;
  using Fields = Listed<&T::title, &T::caption>;
};

/// The findings of a run by the sections of its page, in sentences computed from its record with
/// thresholds that the captions state. Sections without records are missing; a title says "No clear
/// pattern" when the numbers support no finding.
struct RunFindings {
  std::string summary{};
  std::optional<Finding> loss{};
  std::vector<std::optional<Finding>> measures{};  // of each measure; none if it was not recorded
  std::optional<Finding> differences{}, heads{}, before_after{}, telemetry{}, lives{}, maps{},
      importance{};
  std::vector<Finding> criteria{};  // of each criterion
  std::optional<Finding> importance_sums{}, arms{};
  using T = RunFindings;
  using Fields =
      Listed<&T::summary, if_any<&T::loss>, if_any<&T::measures>, if_any<&T::differences>,
             if_any<&T::heads>, if_any<&T::before_after>, if_any<&T::telemetry>, if_any<&T::lives>,
             if_any<&T::maps>, if_any<&T::importance>, if_any<&T::criteria>,
             if_any<&T::importance_sums>, if_any<&T::arms>>;
};
RunFindings findings(const ReportRecord& run);

/// The record of a run's folder: records.json if it exists, else put together from config.json,
/// metrics.jsonl and summary.json. Throws FileError when there is none of them, DataError for
/// malformed ones: `records.json: heads[3].layer must be ...`, `metrics.jsonl:7: ...`.
ReportRecord read_run(const std::filesystem::path& folder);

/// The JSON of a folder's records.json, of a run or of the laboratory (see is_lab_run()); null when
/// the folder has none. Throws FileError, and DataError when it is not an object.
Record read_records(const std::filesystem::path& folder);

/// The path of Chart.js 3: the file named by HEADROOM_CHART_JS, else that of Debian's package
/// libjs-chart.js. Empty if there is none.
std::filesystem::path find_chart_js();

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
