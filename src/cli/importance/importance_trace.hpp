// `headroom importance --trace`: compares metrics at several points of training.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/importance/importance_oracle.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/base/terminal.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "headroom_measure/importance/task_check.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The heads of one run after one step of its training.
struct TracePoint {
  std::string run;
  Index step = 0;
  TaskCheck check;                    // of the model at this step
  ImportanceTable table;              // on ExampleSet::importance
  ImportanceTable again;              // on the other examples of ExampleSet::selection
  std::optional<Oracle> oracle = {};  // on examples of ExampleSet::selection, too
};

/// The measurements of a trace.
struct TraceOptions {
  std::vector<std::string> metrics;
  Index examples = 0;                      // at most, for the metrics
  std::optional<std::uint64_t> seed = {};  // of what is drawn; none: for each run its own
  bool oracle = false;
  Index oracle_examples = 0;  // at most
};

/// Measures the metrics at each snapshot of each run, always with the true costs (leave_one_out),
/// and the oracle if it is requested. `progress` is called with the name of the next measurement.
/// Throws UsageError for a run without snapshots, for runs without a common step,
/// and as oracle_of().
std::vector<TracePoint> trace_of(const std::vector<std::filesystem::path>& runs,
                                 const TraceOptions& options,
                                 const std::function<void(const std::string&)>& progress);

/// Tables over the steps: correlation of each metric with the true costs on other examples, its
/// reliability, the sums of sensitivities and costs, the metrics that agree most, and with the
/// exact answer the correlation with Shapley values and the regret of metrics and choosers. Means
/// over the runs with 95 % intervals. First the points at which the task was not learned.
std::string trace_text(const std::vector<TracePoint>& points, const TerminalStyle& style);
/// All scores, and each of the statistics by run.
Record trace_record(const std::vector<TracePoint>& points);

/// The description of a metric: {"name", "formula", "source", "keep_low", "cost"}.
Record metric_record(const MetricInfo& info);
/// {"details", "classes"} as far as there are any: what a metric says beyond its scores.
Record details_record(const MetricDetails& details);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
