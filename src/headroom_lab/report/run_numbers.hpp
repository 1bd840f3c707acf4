// Series and comparisons taken from a run's record: shared by the parts of the report. Private.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headroom_lab/report/report_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The models of a run in their order; a run without names has one, "model".
std::vector<std::string> models_of(const ReportRecord& run);
/// The qualities to draw in addition to the loss: the run's measures, or those of
/// train/measures.hpp that occur.
std::vector<MeasureRecord> measures_of(const ReportRecord& run);

struct Point {
  Index step;
  double value;
};
/// One model's finite numbers of a key, in the order in which they were recorded.
std::vector<Point> series_of(const ReportRecord& run, const std::string& model,
                             const std::string& key);

/// The largest step of the metrics, 0 without any.
Index last_step(const ReportRecord& run);

Index removed_heads(const ReportRecord& run);

/// The rows of before_after by their part in the comparison, as positions in the list. Rows with
/// recorded live heads and steps are found by these numbers: `after` has the fewest heads, `before`
/// is the earliest with more, `as_long` has more heads and as many steps as `after`. Without such
/// numbers they are the first and the last row.
struct Comparison {
  std::size_t before = 0, after = 0;
  std::optional<std::size_t> as_long{};
  /// Training steps of `after` minus those of `before`; none if unknown.
  std::optional<Index> extra_steps{};
  bool extra_is_least = false;  // the number is a lower bound, from the first removal
};
/// None for fewer than two rows.
std::optional<Comparison> comparison_of(const ReportRecord& run);

/// A measured time of a training step before and after removal.
struct TimeChange {
  double before = 0, after = 0;     // milliseconds
  std::optional<double> ceiling{};  // the speed-up that the arithmetic allows; none if unknown
  double speed_up() const { return before / after; }
  bool noisy() const { return ceiling && beyond_arithmetic(speed_up(), *ceiling); }
};
/// The time of the step and that of its attention, of the fused model if there are several. None
/// where a time is missing or not positive.
std::optional<TimeChange> step_change(const ReportRecord& run, const Comparison& compared);
std::optional<TimeChange> attention_change(const ReportRecord& run, const Comparison& compared);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
