// Findings about the models before and after removing heads. The model after removal has trained
// longer than the one before it, so every comparison of quality states by how much, and compares
// with a model that trained for as many steps without removal if the run has one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/base/text.hpp"
#include "report/findings.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr double notable_change = 0.05;  // of a step's time

/// The lowest exact match of two rows over the models that both have.
struct Qualities {
  double from = 1, to = 1;
  std::vector<std::string> models{};  // empty: nothing was measured in both
  bool equal = true;                  // over the models of each row
};

Qualities qualities_of(const ReportRecord& run, std::size_t from, std::size_t to) {
  const PerModel &a = run.before_after[from].exact_match, &b = run.before_after[to].exact_match;
  Qualities found;
  for (const auto& [model, value] : (a.by_model() ? a : b).values()) {
    const auto x = a.of(model), y = b.of(model);
    if (!x || !y) continue;
    found.equal = found.equal && (found.models.empty() || (*x == found.from && *y == found.to));
    found.from = std::min(found.from, *x);
    found.to = std::min(found.to, *y);
    found.models.push_back(model);
  }
  return found;
}

/// " of the fused model" if two rows have only this one of several models in common.
std::string whose_quality(const ReportRecord& run, const Qualities& qualities) {
  return models_of(run).size() > 1 && qualities.models.size() == 1 && !qualities.models[0].empty()
             ? fmt::format(" of the {} model", qualities.models[0])
             : "";
}

/// "450 more training steps"; "" if the number is unknown or 0.
std::string more_steps(const Comparison& compared) {
  if (compared.extra_steps.value_or(0) <= 0) return "";
  return fmt::format("{}{} more training steps", compared.extra_is_least ? "at least " : "",
                     with_commas(*compared.extra_steps));
}

/// "unchanged", "0.5 points lower"
std::string change_text(double from, double to) {
  const double points = 100 * (to - from);
  if (std::abs(points) < 0.05) return "unchanged";
  return fmt::format("{:.1f} points {}", std::abs(points), points < 0 ? "lower" : "higher");
}

bool by_chance(const ReportRecord& run, const Qualities& found) {
  const Index examples = run.arms ? run.arms->test_examples : 0;
  return examples > 0 &&
         std::abs(found.to - found.from) <= difference_by_chance(found.from, found.to, examples);
}

/// ", exact match 0.5 points lower than after training as long without removal"
std::string quality_text(const ReportRecord& run, const Comparison& compared) {
  if (compared.as_long) {
    const Qualities found = qualities_of(run, *compared.as_long, compared.after);
    if (!found.models.empty() && by_chance(run, found)) {
      return fmt::format(
          ", no clear difference in exact match{} from training as long without removal",
          whose_quality(run, found));
    }
    if (!found.models.empty()) {
      const std::string change = change_text(found.from, found.to);
      return fmt::format(", exact match{} {} after training as long without removal",
                         whose_quality(run, found),
                         change == "unchanged" ? "the same as" : change + " than");
    }
  }
  const Qualities found = qualities_of(run, compared.before, compared.after);
  if (found.models.empty()) return "";
  const std::string more = more_steps(compared), after = more.empty() ? "" : " after " + more;
  if (by_chance(run, found)) {
    return fmt::format(", no clear difference in exact match{}{}", whose_quality(run, found),
                       after);
  }
  return fmt::format(", exact match{} {}{}", whose_quality(run, found),
                     change_text(found.from, found.to), after);
}

/// A sentence for the caption on the longer training, and on the change by training alone.
std::string caution(const ReportRecord& run, const Comparison& compared) {
  const std::string more = more_steps(compared);
  if (more.empty()) return "";
  const std::string& label = run.before_after[compared.after].label;
  if (!compared.as_long) {
    return fmt::format(
        " The models of row \"{}\" had {} than those of row \"{}\": the difference in exact match "
        "is not due to the removal alone.",
        label, more, run.before_after[compared.before].label);
  }
  return fmt::format(" Rows \"{}\" and \"{}\" had {} than row \"{}\".", label,
                     run.before_after[*compared.as_long].label, more,
                     run.before_after[compared.before].label);
}

/// The steps between the last removal and the end: " (the last one 250 steps before the end)".
std::string last_removal(const ReportRecord& run) {
  Index last = -1;
  for (const HeadRecord& head : run.heads) last = std::max(last, head.removed_at.value_or(-1));
  const Index end = last_step(run);
  if (last < 0 || last > end) return "";
  return fmt::format(" (the last one {} steps before the end)", with_commas(end - last));
}

}  // namespace

bool quality_by_chance(const ReportRecord& run) {
  const auto compared = comparison_of(run);
  if (!compared) return false;
  Qualities found;
  if (compared->as_long) found = qualities_of(run, *compared->as_long, compared->after);
  if (found.models.empty()) found = qualities_of(run, compared->before, compared->after);
  return !found.models.empty() && by_chance(run, found);
}

MaybeFinding before_after_finding(const ReportRecord& run) {
  const auto compared = comparison_of(run);
  if (!compared) return {};
  const std::string quality = quality_text(run, *compared);
  const auto step = step_change(run, *compared), attention = attention_change(run, *compared);
  std::string caption =
      "All rows are measured the same way. Exact match is on inputs never seen in training, of the "
      "less accurate model if there are several." +
      caution(run, *compared);
  for (const auto& [time, change] :
       {std::pair("a step", &step), std::pair("attention", &attention)}) {
    if (!*change || !(*change)->noisy()) continue;
    caption += fmt::format(
        " The times of {} are noisy: the speed-up of {:.2f} is more than 10 % above {:.2f}, the "
        "ratio of the arithmetic.",
        time, (*change)->speed_up(), *(*change)->ceiling);
  }
  if (!step) return Finding{"Before and after" + quality, caption};
  if (step->noisy()) return Finding{"The times of a step are noisy" + quality, caption};
  const double ratio = step->speed_up();
  if (ratio > 1 + notable_change) {
    return Finding{fmt::format("A step is {:.2f} times faster{}", ratio, quality), caption};
  }
  if (ratio < 1 - notable_change) {
    return Finding{fmt::format("A step is {:.2f} times slower{}", 1 / ratio, quality), caption};
  }
  return Finding{"No clear gain: a step takes as long as before" + quality,
                 caption + " Less than 5 % counts as no change."};
}

std::string before_after_summary(const ReportRecord& run, const std::vector<std::string>& models) {
  const auto compared = comparison_of(run);
  const Index gone = removed_heads(run);
  if (!compared || gone == 0) return "";
  std::string text;
  const Qualities found = qualities_of(run, compared->before, compared->after);
  if (!found.models.empty()) {
    const std::string more = more_steps(*compared);
    const std::string whose = models.size() < 2 ? "It"
                              : found.models.size() == 1
                                  ? fmt::format("The {} model", found.models[0])
                              : found.equal ? "Both"
                                            : "The less accurate model";
    text += fmt::format(
        "{} predicted {} of unseen examples exactly, and {} after removing {} of {} heads{}{}. ",
        whose, percent(found.from), percent(found.to), gone, run.heads.size(), last_removal(run),
        more.empty() ? "" : " and " + more);
  }
  if (compared->as_long) {
    const Qualities whole = qualities_of(run, *compared->as_long, compared->after);
    if (!whole.models.empty()) {
      text += fmt::format("Exact match{} after training as long without removal: {}, with: {}. ",
                          whose_quality(run, whole), percent(whole.from), percent(whole.to));
    }
  }
  if (const auto step = step_change(run, *compared)) {
    const bool fused =
        models.size() > 1 && std::find(models.begin(), models.end(), "fused") != models.end();
    text += fmt::format("A training step{} went from {:.1f} to {:.1f} ms{}. ",
                        fused ? " of the fused model" : "", step->before, step->after,
                        step->noisy() ? " (noisy times)" : "");
  }
  if (!text.empty()) text.pop_back();
  return text;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
