// What a run shows, in sentences computed from its records. A finding is stated only when the
// numbers pass its threshold, and the threshold is stated with it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "headroom/report/report.hpp"
#include "headroom/report/terminal.hpp"
#include "report/findings.hpp"
#include "report/records.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::string percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

std::string small(double value) {
  if (value == 0 || std::abs(value) >= 1e-3) return fmt::format("{:.2g}", value);
  const std::string text = fmt::format("{:.1e}", value);  // "3.6e-07"
  const std::size_t e = text.find('e');
  const std::string digits = text.substr(0, e);
  return fmt::format("{}e{}", digits.ends_with(".0") ? digits.substr(0, e - 2) : digits,
                     std::stoi(text.substr(e + 1)));
}

Record finding(std::string title, std::string look) {
  return {{"title", std::move(title)}, {"look", std::move(look)}};
}

std::string capital(std::string text) {
  if (!text.empty()) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  }
  return text;
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double close_curves = 0.05;   // losses this near, by the first loss, fall as one
constexpr double visible_rise = 0.01;   // of a validation loss, by the first loss
constexpr double little_change = 0.10;  // a loss that changed by less shows no pattern
constexpr double notable_loss = 0.05;   // of exact match: a share that fell by more is not kept

std::string value_text(const Record& measure, double value) {
  return measure.value("unit", "") == "%" ? percent(value) : fmt::format("{:.3g}", value);
}

/// The largest distance of two curves at common steps, as a share of the first curve's start.
double distance(const std::vector<Point>& a, const std::vector<Point>& b) {
  std::map<Index, double> at;
  for (const Point& p : b) at[p.step] = p.value;
  double worst = 0;
  for (const Point& p : a) {
    const auto other = at.find(p.step);
    if (other != at.end()) worst = std::max(worst, std::abs(p.value - other->second));
  }
  return worst / std::max(1e-300, std::abs(a.front().value));
}

/// One model's losses.
struct Curve {
  std::string model;
  std::vector<Point> points;
  double first() const { return points.front().value; }
  double last() const { return points.back().value; }
};

/// What became of a loss, the worst last.
enum class Course { fell, measured_once, hardly_moved, rose };

Course course_of(const Curve& curve) {
  if (curve.points.size() < 2) return Course::measured_once;
  const double change = (curve.last() - curve.first()) / std::max(1e-300, std::abs(curve.first()));
  return change >= little_change   ? Course::rose
         : change > -little_change ? Course::hardly_moved
                                   : Course::fell;
}

/// Of a loss that did not fall; `whose` is "" or the model's, " of the fused model".
Record not_fallen_finding(const Curve& curve, const std::string& whose, const std::string& look) {
  switch (course_of(curve)) {
    case Course::rose:
      return finding(
          fmt::format("The loss{} rose from {:.3g} to {:.3g}", whose, curve.first(), curve.last()),
          "It ends more than a tenth above its first value: this training went wrong.");
    case Course::hardly_moved:
      return finding(fmt::format("No clear pattern: the loss{} hardly moved", whose),
                     look + " It ends less than a tenth from its first value.");
    case Course::measured_once:
      return finding(fmt::format("The loss{} was measured once: {:.3g}", whose, curve.first()),
                     "A curve needs a second measurement.");
    case Course::fell: break;
  }
  return {};
}

/// Null unless the validation loss ends above its lowest value.
Record overfitting_finding(const Record& run, const Curve& training, const std::string& whose) {
  const auto validation = series_of(run, training.model, "validation_loss");
  if (validation.size() < 3) return {};
  const auto best = std::min_element(validation.begin(), validation.end(),
                                     [](Point a, Point b) { return a.value < b.value; });
  const double rise = validation.back().value - best->value;
  if (rise <= close_curves * best->value || rise <= visible_rise * training.first()) return {};
  return finding(fmt::format("Validation loss{} turned up after step {}", whose, best->step),
                 "It ends more than 5 % above its lowest value: from there on the model learned "
                 "its training data by heart.");
}

/// A training loss with label smoothing is held to another target than the validation loss.
std::string smoothing_note(const Record& run) {
  const Record config = run.value("config", Record::object());
  const Record training = config.value("training", Record());
  const double smoothing =
      training.is_object() ? number_in(training, "label_smoothing").value_or(0) : 0;
  if (smoothing == 0) return "";
  return fmt::format(
      " The training loss has label smoothing of {:.2g} in it, the validation loss has not.",
      smoothing);
}

Record loss_finding(const Record& run, const std::vector<std::string>& models) {
  std::vector<Curve> curves;
  for (const std::string& model : models) {
    Curve curve{model, series_of(run, model, "loss")};
    if (!curve.points.empty()) curves.push_back(std::move(curve));
  }
  if (curves.empty()) return {};
  const std::string look =
      (models.size() > 1
           ? "Look for a steady fall on the log scale, and for how closely the curves lie together."
           : "Look for a steady fall on the log scale, and for the gap between the curves.") +
      smoothing_note(run);
  const auto whose = [&](const Curve& curve) {
    return curves.size() > 1 ? fmt::format(" of the {} model", curve.model) : std::string();
  };
  const Curve& worst =
      *std::max_element(curves.begin(), curves.end(),
                        [](const Curve& a, const Curve& b) { return course_of(a) < course_of(b); });
  if (course_of(worst) != Course::fell) return not_fallen_finding(worst, whose(worst), look);
  if (!run.contains("schedule")) {  // with heads removed, a rise has another reason
    for (const Curve& curve : curves) {
      const Record found = overfitting_finding(run, curve, whose(curve));
      if (!found.is_null()) return found;
    }
  }
  if (curves.size() == 1) {
    return finding(fmt::format("The loss falls from {:.3g} to {:.2g}", worst.first(), worst.last()),
                   look);
  }
  double apart = 0;
  for (const Curve& curve : curves) {
    apart = std::max(apart, distance(curves[0].points, curve.points));
  }
  const bool two = curves.size() == 2;
  if (apart < close_curves) {
    return finding(fmt::format("The {} losses fall as one", two ? "two" : "models'"),
                   look + " They never differ by more than 5 % of the first loss.");
  }
  return finding(fmt::format("{} models learn, each on its own path", two ? "Both" : "All"),
                 look + " Somewhere they differ by more than 5 % of the first loss.");
}

Record measure_finding(const Record& run, const Record& measure,
                       const std::vector<std::string>& models) {
  const std::string name = measure["name"].get<std::string>();
  const std::string key = measure["key"].get<std::string>();
  const bool higher = measure.value("better", "higher") == "higher";
  const auto goal = number_in(measure, "goal");
  Index reached_by_all = 0;
  bool all_reach = goal.has_value(), any = false;
  double worst_end = higher ? infinity : -infinity;
  for (const std::string& model : models) {
    const auto series = series_of(run, model, key.c_str());
    if (series.empty()) continue;
    any = true;
    worst_end = higher ? std::min(worst_end, series.back().value)
                       : std::max(worst_end, series.back().value);
    const auto reached = std::find_if(series.begin(), series.end(), [&](Point p) {
      return goal && (higher ? p.value >= *goal : p.value <= *goal);
    });
    all_reach = all_reach && reached != series.end();
    if (reached != series.end()) reached_by_all = std::max(reached_by_all, reached->step);
  }
  if (!any) return {};
  const bool several = models.size() > 1;
  const std::string look =
      fmt::format("Look for the step from which the curve stays {}.{}", higher ? "high" : "low",
                  goal ? " The dashed line is the goal." : "");
  if (all_reach) {
    return finding(
        fmt::format("{} {} of {} by step {}", several ? "Both models reach an" : "It reaches an",
                    name, value_text(measure, *goal), with_commas(reached_by_all)),
        look);
  }
  const std::string end = value_text(measure, worst_end);
  if (goal) {
    return finding(fmt::format("{} ends at {}, short of the goal", capital(name), end), look);
  }
  return finding(fmt::format("{} ends at {}", capital(name), end), look);
}

Record differences_finding(const Record& run) {
  if (list_of(run, "differences").empty() && !run.contains("separate_vs_fused")) return {};
  const std::string look =
      "Log scale: a straight rise is rounding that grows by the same factor every step. Key biases "
      "have no effect on the function, so theirs are drawn apart.";
  const Record start = run.value("separate_vs_fused", Record::object());
  const auto forward = number_in(start, "forward"), tolerance = number_in(start, "tolerance");
  if (forward && tolerance && *forward > *tolerance) {
    return finding("The layouts did not start as the same function",
                   fmt::format("Outputs differ by {}, more than the allowed {}. {}",
                               small(*forward), small(*tolerance), look));
  }
  const Record parted = run.value("parted_at", Record::object());
  const auto step = number_in(parted, "step"), threshold = number_in(parted, "threshold");
  if (step) {
    return finding(
        fmt::format("Same function at the start, paths apart from step {}",
                    with_commas(static_cast<Index>(*step))),
        fmt::format("Apart means a parameter difference above {} of the largest value. {}",
                    small(threshold.value_or(0)), look));
  }
  if (threshold) {
    return finding("The two layouts never parted",
                   fmt::format("No parameter ever differed by more than {} of the largest "
                               "value. {}",
                               small(*threshold), look));
  }
  return finding("How far the layouts are apart: no clear pattern", look);
}

/// How long before the end heads were removed: ", 450 to 250 steps before the end".
std::string when_removed(const Record& run, Index last_step) {
  double first = infinity, last = -infinity;
  for (const Record& head : list_of(run, "heads")) {
    const auto step = number_in(head, "removed_at");
    if (!step) continue;
    first = std::min(first, *step);
    last = std::max(last, *step);
  }
  if (first > last || last > static_cast<double>(last_step)) return "";
  const Index from = last_step - static_cast<Index>(first),
              to = last_step - static_cast<Index>(last);
  if (from == to) return fmt::format(", {} steps before the end", with_commas(from));
  return fmt::format(", {} to {} steps before the end", with_commas(from), with_commas(to));
}

std::string summary(const Record& run, const std::vector<std::string>& models) {
  std::string text;
  const Record start = run.value("separate_vs_fused", Record::object());
  const auto forward = number_in(start, "forward");
  if (forward) {
    const auto tolerance = number_in(start, "tolerance");
    const std::string apart = *forward == 0 ? "equal to the bit" : "within " + small(*forward);
    text = tolerance && *forward > *tolerance
               ? "Two models that should have started as the same function did not"
               : "Two models with different layouts started as the same function (outputs " +
                     apart + ")";
  } else {
    text = models.size() > 1 ? "The models trained side by side" : "One model trained";
  }
  Index last_step = 0;
  for (const Record& line : list_of(run, "metrics")) {
    last_step = std::max(last_step, line["step"].get<Index>());
  }
  if (last_step > 0) {
    text += fmt::format("{} for {} steps", forward ? " and trained in lockstep" : "",
                        with_commas(last_step));
  }
  text += ". ";

  const Record& rows = list_of(run, "before_after");
  const std::vector<Share> shares = shares_of(run);
  const Index all = std::accumulate(shares.begin(), shares.end(), Index{0},
                                    [](Index sum, const Share& s) { return sum + s.all; });
  const Index kept = std::accumulate(shares.begin(), shares.end(), Index{0},
                                     [](Index sum, const Share& s) { return sum + s.kept; });
  if (rows.size() > 1 && kept < all) {
    const auto q0 = range_in(rows.front(), "exact_match"),
               q1 = range_in(rows.back(), "exact_match");
    if (q0 && q1) {
      const bool equal = q0->first == q0->second && q1->first == q1->second;
      text += fmt::format(
          "Of unseen examples {} wrote {} exactly; with {} of {} heads removed{}, {} {}. ",
          models.size() < 2 ? "it"
          : equal           ? "both"
                            : "the weaker one",
          percent(q0->first), all - kept, all, when_removed(run, last_step),
          q1->first > q0->first                   ? "then"
          : q0->first - q1->first <= notable_loss ? "still"
                                                  : "only",
          percent(q1->first));
    }
    const auto t0 = number_in(rows.front(), "step_ms", "fused");
    const auto t1 = number_in(rows.back(), "step_ms", "fused");
    const bool of_fused = std::find(models.begin(), models.end(), "fused") != models.end();
    if (t0 && t1) {
      text += fmt::format("A training step{} went from {:.1f} to {:.1f} ms. ",
                          of_fused && models.size() > 1 ? " of the fused one" : "", *t0, *t1);
    }
  } else if (!models.empty()) {
    const auto loss = series_of(run, models[0], "validation_loss");
    if (!loss.empty()) text += fmt::format("Validation loss ends at {:.3f}. ", loss.back().value);
    for (const Record& measure : measures_of(run)) {
      const auto series = series_of(run, models[0], measure["key"].get<std::string>().c_str());
      if (series.empty()) continue;
      text += fmt::format("{} ends at {}. ", capital(measure["name"].get<std::string>()),
                          value_text(measure, series.back().value));
    }
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace

Record findings(const Record& run) {
  check_run(run);
  const std::vector<std::string> models = models_of(run);
  Record result = {{"summary", summary(run, models)}};
  const auto add = [&result](const char* section, Record found) {
    if (!found.is_null()) result[section] = std::move(found);
  };
  add("loss", loss_finding(run, models));
  const Record measures = measures_of(run);
  for (const Record& measure : measures) {
    result["measures"].push_back(measure_finding(run, measure, models));
  }
  add("differences", differences_finding(run));
  add("heads", heads_finding(run));
  add("before_after", before_after_finding(run));
  add("telemetry", telemetry_finding(run));
  add("maps", maps_finding(run));
  add("importance", importance_finding(run, models));
  return result;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
