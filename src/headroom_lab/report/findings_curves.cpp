// Findings about curves over steps: losses, measures, differences between two models.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "headroom/base/text.hpp"
#include "headroom/statistics/intervals.hpp"
#include "report/findings.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double visible_gap = 0.05;     // of the loss chart's height, which is a log scale
constexpr double visible_rise = 0.01;    // of a validation loss, relative to the first loss
constexpr double notable_rise = 0.05;    // of a validation loss, relative to its minimum
constexpr double little_change = 0.10;   // a loss that changed by less has not fallen or risen
constexpr std::size_t recent_steps = 5;  // training losses that are averaged before the minimum

/// One model's losses.
struct Curve {
  std::string model;
  std::vector<Point> points;
  double first() const { return points.front().value; }
  double last() const { return points.back().value; }
};

/// Outcome of a training curve, ordered from best to worst.
enum class Course { fell, measured_once, hardly_changed, rose };

Course course_of(const Curve& curve) {
  if (curve.points.size() < 2) return Course::measured_once;
  const double change = (curve.last() - curve.first()) / std::max(1e-300, std::abs(curve.first()));
  return change >= little_change   ? Course::rose
         : change > -little_change ? Course::hardly_changed
                                   : Course::fell;
}

/// For a loss that did not fall. `whose` is "" or names the model: " of the fused model".
Finding not_fallen_finding(const Curve& curve, const std::string& whose,
                           const std::string& caption) {
  switch (course_of(curve)) {
    case Course::rose:
      return {
          fmt::format("The loss{} rose from {:.3g} to {:.3g}", whose, curve.first(), curve.last()),
          "It ends more than 10 % above its first value."};
    case Course::measured_once:
      return {fmt::format("The loss{} was measured once: {:.3g}", whose, curve.first()),
              "A curve needs a second measurement."};
    case Course::hardly_changed:
    case Course::fell: break;
  }
  return {fmt::format("No clear pattern: the loss{} hardly changed", whose),
          caption + " It ends less than 10 % from its first value."};
}

/// True if the training loss is lower after a step than just before it; false without points on
/// both sides.
bool fell_on(const Curve& training, Index step) {
  std::vector<double> before, after;
  for (const Point& point : training.points) {
    (point.step <= step ? before : after).push_back(point.value);
  }
  if (before.empty() || after.empty()) return false;
  if (before.size() > recent_steps) before.erase(before.begin(), before.end() - recent_steps);
  return mean_of(after) < mean_of(before);
}

/// A finding if the validation loss ends above its minimum, else none.
MaybeFinding overfitting_finding(const ReportRecord& run, const Curve& training,
                                 const std::string& whose) {
  const auto validation = series_of(run, training.model, "validation_loss");
  if (validation.size() < 3) return {};
  const auto best = std::min_element(validation.begin(), validation.end(),
                                     [](Point a, Point b) { return a.value < b.value; });
  const double rise = validation.back().value - best->value;
  if (rise <= notable_rise * best->value || rise <= visible_rise * training.first()) return {};
  return Finding{
      fmt::format("Validation loss{} rose after step {}", whose, with_commas(best->step)),
      std::string("It ends more than 5 % above its minimum, while the training loss ") +
          (fell_on(training, best->step)
               ? "fell further: the model overfits its training data."
               : "did not fall further: overfitting alone does not explain it.")};
}

/// A training loss with label smoothing is measured against other targets than the validation loss.
std::string smoothing_note(const ReportRecord& run) {
  const Record training = run.config.value("training", Record());
  if (!training.is_object()) return "";
  const Record smoothing = training.value("label_smoothing", Record());
  if (!smoothing.is_number() || smoothing == 0) return "";
  return fmt::format(
      " The training loss includes label smoothing of {:.2g}, the validation loss does not.",
      smoothing.get<double>());
}

/// The step at which the curves first differ visibly on the chart's log scale, and their maximum
/// ratio.
struct Gap {
  Index compared = 0;          // pairs of losses at a common step
  std::optional<Index> first;  // step
  double ratio = 1;            // the largest
  Index ratio_step = 0;
};

Gap gap_of(const std::vector<Curve>& curves) {
  double low = infinity, high = 0;
  for (const Curve& curve : curves) {
    for (const Point& point : curve.points) {
      if (point.value <= 0) continue;  // cannot be shown on a log scale
      low = std::min(low, point.value);
      high = std::max(high, point.value);
    }
  }
  const double visible = visible_gap * std::log(high / low);
  std::map<Index, double> losses;  // of the first model
  for (const Point& point : curves[0].points) losses[point.step] = point.value;
  Gap gap;
  for (std::size_t i = 1; i < curves.size(); ++i) {
    for (const Point& point : curves[i].points) {
      const auto other = losses.find(point.step);
      if (other == losses.end() || point.value <= 0 || other->second <= 0) continue;
      ++gap.compared;
      const double distance = std::abs(std::log(point.value / other->second));
      if (distance > visible) gap.first = std::min(gap.first.value_or(point.step), point.step);
      if (std::exp(distance) <= gap.ratio) continue;
      gap.ratio = std::exp(distance);
      gap.ratio_step = point.step;
    }
  }
  return gap;
}

Finding fallen_finding(const std::vector<Curve>& curves, const std::string& caption) {
  if (curves.size() == 1) {
    return {
        fmt::format("The loss falls from {:.3g} to {:.2g}", curves[0].first(), curves[0].last()),
        caption};
  }
  const std::string all = curves.size() == 2 ? "Both losses" : "All losses";
  const Gap gap = gap_of(curves);
  if (gap.compared == 0) {
    return {all + " fall", caption + " They have no step in common at which to compare them."};
  }
  if (!gap.first) {
    return {
        all + " fall, and their curves coincide",
        caption + " On the log scale they never differ by more than 5 % of the chart's height."};
  }
  return {fmt::format("{} fall, and their curves diverge at step {}", all, with_commas(*gap.first)),
          fmt::format(
              "{} At step {} they first differ by more than 5 % of the height of the chart. They "
              "differ most at step {}, by a factor of {:.2g}.",
              caption, with_commas(*gap.first), with_commas(gap.ratio_step), gap.ratio)};
}

}  // namespace

MaybeFinding loss_finding(const ReportRecord& run, const std::vector<std::string>& models) {
  std::vector<Curve> curves;
  for (const std::string& model : models) {
    Curve curve{model, series_of(run, model, "loss")};
    if (!curve.points.empty()) curves.push_back(std::move(curve));
  }
  if (curves.empty()) return {};
  const std::string caption = "Loss per step on a log scale." + smoothing_note(run);
  const auto whose = [&](const Curve& curve) {
    return curves.size() > 1 ? fmt::format(" of the {} model", curve.model) : std::string();
  };
  const Curve& worst =
      *std::max_element(curves.begin(), curves.end(),
                        [](const Curve& a, const Curve& b) { return course_of(a) < course_of(b); });
  if (course_of(worst) != Course::fell) return not_fallen_finding(worst, whose(worst), caption);
  if (run.schedule.empty()) {  // removed heads are another reason for a rise
    for (const Curve& curve : curves) {
      if (MaybeFinding found = overfitting_finding(run, curve, whose(curve))) return found;
    }
  }
  return fallen_finding(curves, caption);
}

std::optional<double> worst_end(const ReportRecord& run, const std::vector<std::string>& models,
                                const std::string& key, Better better) {
  std::optional<double> worst;
  for (const std::string& model : models) {
    const auto series = series_of(run, model, key);
    if (series.empty()) continue;
    const double end = series.back().value;
    if (!worst || (better == Better::higher ? end < *worst : end > *worst)) worst = end;
  }
  return worst;
}

MaybeFinding measure_finding(const ReportRecord& run, const MeasureRecord& measure,
                             const std::vector<std::string>& models) {
  const bool higher = measure.better == Better::higher;
  Index reached_by_all = 0, measured = 0;
  bool all_reach = measure.goal.has_value();
  for (const std::string& model : models) {
    const auto series = series_of(run, model, measure.key);
    if (series.empty()) continue;
    ++measured;
    const auto reached = std::find_if(series.begin(), series.end(), [&](Point p) {
      return measure.goal && (higher ? p.value >= *measure.goal : p.value <= *measure.goal);
    });
    all_reach = all_reach && reached != series.end();
    if (reached != series.end()) reached_by_all = std::max(reached_by_all, reached->step);
  }
  if (measured == 0) return {};
  const std::string end = value_text(measure, *worst_end(run, models, measure.key, measure.better));
  std::string caption = fmt::format("{} is better.", higher ? "Higher" : "Lower");
  if (measure.goal) caption += " The dashed line is the goal.";
  if (!all_reach) {
    return Finding{fmt::format("{} ends at {}{}", capital(measure.name), end,
                               measure.goal ? ", short of the goal" : ""),
                   caption};
  }
  const char* who = measured == 1   ? "The model reaches"
                    : measured == 2 ? "Both models reach"
                                    : "All models reach";
  return Finding{fmt::format("{} {} {} by step {}", who, value_text(measure, *measure.goal),
                             measure.name, with_commas(reached_by_all)),
                 fmt::format("{} {} ends at {}{}.", caption, capital(measure.name), end,
                             measured > 1 ? " for the worst of them" : "")};
}

bool same_at_start(const StartDifference& start) {
  if (!start.tolerance) return false;
  const auto within = [&](std::optional<double> difference) {
    return !difference || *difference <= *start.tolerance;  // false for NaN
  };
  return within(start.forward) && within(start.parameter_gradient) && within(start.input_gradient);
}

namespace {

/// The first step at which the parameters differ by more than the threshold: from the plotted
/// lines, or from the record if there are none.
std::optional<Index> diverged_at(const ReportRecord& run) {
  if (run.differences.empty()) return run.parted_at->step;
  for (const DifferenceLine& line : run.differences) {
    if (line.parameter && *line.parameter > run.parted_at->threshold) return line.step;
  }
  return {};
}

}  // namespace

MaybeFinding differences_finding(const ReportRecord& run) {
  if (run.differences.empty() && !run.separate_vs_fused) return {};
  const std::string caption =
      "Log scale: a straight rise is rounding that grows by the same factor every step. Key biases "
      "have no effect on the function, so theirs are drawn separately.";
  const bool compared = run.separate_vs_fused && run.separate_vs_fused->tolerance;
  const bool same = compared && same_at_start(*run.separate_vs_fused);
  if (compared && !same) {
    return Finding{"The layouts did not start as the same function",
                   fmt::format("More than the allowed {} of the largest value. {}",
                               small(*run.separate_vs_fused->tolerance), caption)};
  }
  const bool measured = run.parted_at && (!run.differences.empty() || run.parted_at->step);
  if (measured) {
    const std::string threshold = small(run.parted_at->threshold);
    if (const auto step = diverged_at(run)) {
      return Finding{
          fmt::format("{} diverge at step {}",
                      same ? "The layouts start as the same function and" : "The models",
                      with_commas(*step)),
          fmt::format("From there on a parameter differs by more than {} of the largest value. {}",
                      threshold, caption)};
    }
    return Finding{
        "The models do not diverge",
        fmt::format("No parameter ever differed by more than {} of the largest value. {}",
                    threshold, caption)};
  }
  return Finding{same ? "The layouts start as the same function" : "Differences between the models",
                 caption};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
