// The findings of a run put together, and its summary. A finding is stated only when the numbers
// pass its threshold, and the threshold is stated with it.
#include "report/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/base/text.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::string percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

std::string small(double value) {
  if (!std::isfinite(value)) return "an unknown number";
  if (value == 0 || std::abs(value) >= 1e-3) return fmt::format("{:.2g}", value);
  const std::string text = fmt::format("{:.1e}", value);  // "3.6e-07"
  const std::size_t e = text.find('e');
  const std::string digits = text.substr(0, e);
  return fmt::format("{}e{}", digits.ends_with(".0") ? digits.substr(0, e - 2) : digits,
                     std::stoi(text.substr(e + 1)));
}

std::string value_text(const MeasureRecord& measure, double value) {
  return measure.unit == "%" ? percent(value) : fmt::format("{:.3g}", value);
}

namespace {

/// True if all models were measured at the same steps.
bool in_lockstep(const ReportRecord& run, const std::vector<std::string>& models) {
  const auto steps_of = [&run](const std::string& model) {
    std::vector<Index> steps;
    for (const Point& point : series_of(run, model, "loss")) steps.push_back(point.step);
    return steps;
  };
  const std::vector<Index> first = steps_of(models[0]);
  return std::all_of(models.begin(), models.end(),
                     [&](const std::string& model) { return steps_of(model) == first; });
}

/// A sentence on the models' start, without a full stop.
std::string beginning(const ReportRecord& run, const std::vector<std::string>& models) {
  if (!run.separate_vs_fused) {
    return models.size() > 1 ? fmt::format("{} models were trained", models.size())
                             : "One model was trained";
  }
  const StartDifference& start = *run.separate_vs_fused;
  const std::string outputs =
      start.forward == 0 ? "equal to the bit" : "within " + small(start.forward);
  const std::string began =
      same_at_start(start)
          ? fmt::format(
                "Two models with different layouts started as the same function (outputs {})",
                outputs)
      : start.tolerance ? "Two models that should have started as the same function did not"
                        : fmt::format("Two models started with outputs {}", outputs);
  const bool together = models.size() > 1 && in_lockstep(run, models);
  return began + (together ? " and were trained in lockstep" : " and were trained");
}

std::string summary(const ReportRecord& run, const std::vector<std::string>& models) {
  std::string text;
  if (run.task_check && !run.task_check->learned) {
    const auto all = Index(run.heads.size()), gone = removed_heads(run);
    text = run.task_check->warning(
               gone == 0 ? "The model"
                         : fmt::format("The model with {} of {} heads", all - gone, all)) +
           ". ";
  }
  text += beginning(run, models);
  if (last_step(run) > 0) text += fmt::format(" for {} steps", with_commas(last_step(run)));
  text += ". ";
  const std::string compared = before_after_summary(run, models);
  if (!compared.empty()) return text + compared;
  if (models.empty()) return text.substr(0, text.size() - 1);
  if (const auto loss = worst_end(run, models, "validation_loss", Better::lower)) {
    text += fmt::format("Validation loss ends at {:.3f}. ", *loss);
  }
  for (const MeasureRecord& measure : measures_of(run)) {
    if (const auto end = worst_end(run, models, measure.key, measure.better)) {
      text += fmt::format("{} ends at {}. ", capital(measure.name), value_text(measure, *end));
    }
  }
  return text.substr(0, text.size() - 1);
}

/// Replaces the titles that say something about heads: those of a model that has learned nothing
/// have no roles, and their scores are noise.
void withhold_titles(RunFindings& found) {
  const std::string title = "No finding: the model has not learned the task";
  for (const auto section :
       {&RunFindings::heads, &RunFindings::telemetry, &RunFindings::lives, &RunFindings::maps,
        &RunFindings::importance, &RunFindings::importance_sums, &RunFindings::arms}) {
    if (found.*section) (found.*section)->title = title;
  }
  for (Finding& criterion : found.criteria) criterion.title = title;
}

}  // namespace

RunFindings findings(const ReportRecord& run) {
  check(run, "report");
  const std::vector<std::string> models = models_of(run);
  RunFindings found{.summary = summary(run, models),
                    .loss = loss_finding(run, models),
                    .differences = differences_finding(run),
                    .heads = heads_finding(run),
                    .before_after = before_after_finding(run),
                    .telemetry = telemetry_finding(run),
                    .lives = lives_finding(run),
                    .maps = maps_finding(run),
                    .importance = importance_finding(run, models),
                    .criteria = criterion_findings(run),
                    .importance_sums = importance_sums_finding(run),
                    .arms = arms_finding(run)};
  for (const MeasureRecord& measure : measures_of(run)) {
    found.measures.push_back(measure_finding(run, measure, models));
  }
  if (run.task_check && !run.task_check->learned) withhold_titles(found);
  return found;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
