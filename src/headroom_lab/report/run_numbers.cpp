// Series and comparisons taken from a run's record.
#include "report/run_numbers.hpp"

#include <algorithm>

#include "headroom/train/measures.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

const char* const only_model = "model";  // the name of a model that the metrics do not name

std::string model_of(const MetricsLine& line) {
  return line.model.empty() ? only_model : line.model;
}

/// Training steps from the first removal to the end of the run: the minimum between the models with
/// all heads and those at the end. None without a removal.
std::optional<Index> steps_since_removal(const ReportRecord& run) {
  std::optional<Index> first;
  for (const HeadRecord& head : run.heads) {
    if (head.removed_at) first = std::min(first.value_or(*head.removed_at), *head.removed_at);
  }
  const Index end = last_step(run);
  return first && *first < end ? std::optional(end - *first) : std::nullopt;
}

std::optional<TimeChange> change_of(const ReportRecord& run, const Comparison& compared,
                                    PerModel ComparisonRow::*ms,
                                    std::optional<double> ComparisonRow::*flops) {
  const ComparisonRow &before = run.before_after[compared.before],
                      &after = run.before_after[compared.after];
  const auto from = (before.*ms).of("fused"), to = (after.*ms).of("fused");
  if (!from || !to || *from <= 0 || *to <= 0) return {};
  TimeChange change{.before = *from, .after = *to};
  const double most = (before.*flops).value_or(0), least = (after.*flops).value_or(0);
  if (most > 0 && least > 0) change.ceiling = most / least;
  return change;
}

}  // namespace

std::vector<std::string> models_of(const ReportRecord& run) {
  std::vector<std::string> models = run.models;
  for (const MetricsLine& line : run.metrics) {
    const std::string model = model_of(line);
    if (std::find(models.begin(), models.end(), model) == models.end()) models.push_back(model);
  }
  return models;
}

std::vector<MeasureRecord> measures_of(const ReportRecord& run) {
  if (!run.measures.empty()) return run.measures;
  std::vector<MeasureRecord> measures;
  for (const Measure& measure : quality_measures) {
    const bool occurs =
        std::any_of(run.metrics.begin(), run.metrics.end(),
                    [&](const MetricsLine& line) { return line.number(measure.key).has_value(); });
    if (!occurs) continue;
    measures.push_back({.key = measure.key,
                        .name = measure.name,
                        .unit = "%",
                        .better = measure.higher_is_better ? Better::higher : Better::lower});
  }
  return measures;
}

std::vector<Point> series_of(const ReportRecord& run, const std::string& model,
                             const std::string& key) {
  std::vector<Point> series;
  for (const MetricsLine& line : run.metrics) {
    if (model_of(line) != model) continue;
    if (const auto value = line.number(key)) series.push_back({line.step, *value});
  }
  return series;
}

Index last_step(const ReportRecord& run) {
  Index last = 0;
  for (const MetricsLine& line : run.metrics) last = std::max(last, line.step);
  return last;
}

Index removed_heads(const ReportRecord& run) {
  return std::count_if(run.heads.begin(), run.heads.end(),
                       [](const HeadRecord& head) { return head.removed_at.has_value(); });
}

std::optional<Comparison> comparison_of(const ReportRecord& run) {
  const std::vector<ComparisonRow>& rows = run.before_after;
  if (rows.size() < 2) return {};
  Comparison found{.before = 0, .after = rows.size() - 1};
  const bool told = std::all_of(rows.begin(), rows.end(), [](const ComparisonRow& row) {
    return row.steps.has_value() && row.heads.has_value();
  });
  if (!told) {
    found.extra_steps = steps_since_removal(run);
    found.extra_is_least = true;
    return found;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (*rows[i].heads < *rows[found.after].heads) found.after = i;
  }
  const ComparisonRow& after = rows[found.after];
  std::optional<std::size_t> before;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (*rows[i].heads <= *after.heads) continue;
    if (!before || *rows[i].steps < *rows[*before].steps) before = i;
    if (*rows[i].steps == *after.steps) found.as_long = i;
  }
  if (!before) return Comparison{.before = 0, .after = rows.size() - 1};
  found.before = *before;
  if (found.as_long == before) found.as_long.reset();  // no model was trained further
  found.extra_steps = *after.steps - *rows[*before].steps;
  return found;
}

std::optional<TimeChange> step_change(const ReportRecord& run, const Comparison& compared) {
  return change_of(run, compared, &ComparisonRow::step_ms, &ComparisonRow::step_flops);
}

std::optional<TimeChange> attention_change(const ReportRecord& run, const Comparison& compared) {
  return change_of(run, compared, &ComparisonRow::attention_ms, &ComparisonRow::attention_flops);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
