// The parts of findings(): one function per section of the page. Private.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headroom_lab/report/report.hpp"
#include "report/run_numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

using MaybeFinding = std::optional<Finding>;

/// "99.6 %"
std::string percent(double fraction);
/// "3.6e-7", "0.001": two digits, and an exponent only where it is shorter.
std::string small(double value);
/// "99.6 %" or "0.123", by the unit of a measure.
std::string value_text(const MeasureRecord& measure, double value);

/// The last value of a measure, of the model for which it is worst; none if no model has it.
std::optional<double> worst_end(const ReportRecord& run, const std::vector<std::string>& models,
                                const std::string& key, Better better);

/// Returns true if all quantities compared at the start differ by at most the tolerance; false if
/// the tolerance is unknown.
bool same_at_start(const StartDifference& start);

/// None if the run has no records for the section.
MaybeFinding loss_finding(const ReportRecord& run, const std::vector<std::string>& models);
MaybeFinding measure_finding(const ReportRecord& run, const MeasureRecord& measure,
                             const std::vector<std::string>& models);
MaybeFinding differences_finding(const ReportRecord& run);
MaybeFinding heads_finding(const ReportRecord& run);
MaybeFinding before_after_finding(const ReportRecord& run);
MaybeFinding telemetry_finding(const ReportRecord& run);
MaybeFinding lives_finding(const ReportRecord& run);
MaybeFinding maps_finding(const ReportRecord& run);
MaybeFinding importance_finding(const ReportRecord& run, const std::vector<std::string>& models);

/// One per criterion.
std::vector<Finding> criterion_findings(const ReportRecord& run);
MaybeFinding importance_sums_finding(const ReportRecord& run);
MaybeFinding arms_finding(const ReportRecord& run);

/// A sentence for each strength of a rank correlation; `few` if there are too few pairs for any.
struct ByStrength {
  std::string strong, rough, weak, opposite, few;
};

/// The rank correlation of x and y in words: clear from 0.7 on, rough from 0.4 on, opposite up to
/// -0.7, each only beyond 2 / sqrt(n), which n pairs without any relation reach in one of twenty
/// cases. No correlation is beyond it for n < 4.
Finding correlation_finding(const std::vector<double>& x, const std::vector<double>& y,
                            const ByStrength& words, const std::string& caption);

/// Returns true if chance explains the difference in exact match of the title of before_after:
/// where the run says how many examples measured it.
bool quality_by_chance(const ReportRecord& run);

/// Sentences of the summary about exact match and times before and after removal; "" without them.
std::string before_after_summary(const ReportRecord& run, const std::vector<std::string>& models);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
