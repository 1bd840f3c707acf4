// Findings about the choice of heads: metrics against true costs, over training, and after a cut.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "headroom/base/text.hpp"
#include "headroom/statistics/intervals.hpp"
#include "headroom_runs/tables/table_tasks.hpp"
#include "report/findings.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr double fell = 10, stayed = 2.5;    // factors, see importance_sums_finding
constexpr double normal_95 = 1.96;           // 95 % of a normal distribution is within +- this
constexpr const char* at_random = "random";  // the choice that others are compared with

/// The difference from the mean of random draws that one more draw exceeds in one of twenty cases:
/// half of Student's prediction interval, t s sqrt(1 + 1 / n). A single draw says nothing.
double difference_by_draw(const std::vector<double>& draws) {
  if (draws.size() < 2) return std::numeric_limits<double>::infinity();
  const Interval mean = mean_interval(draws);  // +- t s / sqrt(n)
  return (mean.high - mean.value) * std::sqrt(double(draws.size()) + 1);
}

/// Whether a share is further from those of random choices than both kinds of chance explain.
bool differs(double share, const std::vector<double>& random, Index examples) {
  const double mean = mean_of(random);
  return std::abs(share - mean) >
         std::max(difference_by_draw(random), difference_by_chance(share, mean, examples));
}

/// "20.1 to 45.2 %"
std::string spread_text(const std::vector<double>& shares) {
  const auto [low, high] = std::minmax_element(shares.begin(), shares.end());
  return fmt::format("{:.1f} to {}", 100 * *low, percent(*high));
}

const ArmRecord* arm_of(const ArmsRecord& all, const std::string& choice, Index removed) {
  for (const ArmRecord& arm : all.arms) {
    if (arm.choice == choice && arm.removed == removed) return &arm;
  }
  return nullptr;
}

/// "Right after 6 heads are removed, 97.5 % are exact with the choice of fisher, 30.1 to 45.2 %
/// with random ones"
std::string right_after(const ArmsRecord& all, const ArmRecord& chosen, const ArmRecord& random) {
  const double ours = mean_of(chosen.cut);
  return fmt::format(
      "Right after {} heads are removed, {} are exact with the choice of {}, {} with random ones{}",
      chosen.removed, percent(ours), all.chosen_by, spread_text(random.cut),
      differs(ours, random.cut, all.test_examples) ? "" : " (no clear difference)");
}

/// "450 steps after the removal of 12 heads, no choice differs clearly from random ones: fisher
/// 99.2 %, costliest 99.5 %, random 98.9 to 99.8 %". It names all choices: the best and the worst
/// of them, picked on the examples that measure them, would look further apart than they are.
std::string after_recovery(const ArmsRecord& all, const ArmRecord& random) {
  std::vector<std::string> better, worse, shares;
  for (const ArmRecord& arm : all.arms) {
    if (arm.removed != random.removed || &arm == &random) continue;
    const double share = mean_of(arm.recovered);
    shares.push_back(fmt::format("{} {}", arm.choice, percent(share)));
    if (!differs(share, random.recovered, all.test_examples)) continue;
    (share > mean_of(random.recovered) ? better : worse).push_back(arm.choice);
  }
  std::vector<std::string> clear;
  for (const auto& [names, than] : {std::pair(&better, "better"), std::pair(&worse, "worse")}) {
    if (names->empty()) continue;
    clear.push_back(fmt::format("{} {} clearly {} than random choices", fmt::join(*names, " and "),
                                names->size() == 1 ? "is" : "are", than));
  }
  return fmt::format("{} steps after the removal of {} heads, {}: {}, {} {}",
                     with_commas(all.recovery), random.removed,
                     clear.empty() ? "no choice differs clearly from random ones"
                                   : fmt::format("{}", fmt::join(clear, ", ")),
                     fmt::join(shares, ", "), at_random, spread_text(random.recovered));
}

}  // namespace

double difference_by_chance(double a, double b, Index n) {
  const double p = (a + b) / 2;
  return normal_95 * std::sqrt(2 * p * (1 - p) / double(std::max<Index>(n, 1)));
}

std::vector<Finding> criterion_findings(const ReportRecord& run) {
  std::vector<Finding> found;
  for (const CriterionRecord& criterion : run.criteria) {
    std::vector<double> importance, cost;
    for (std::size_t i = 0; i < run.heads.size(); ++i) {
      if (!run.heads[i].cost || !std::isfinite(*run.heads[i].cost)) continue;
      importance.push_back(criterion.importance[i]);
      cost.push_back(*run.heads[i].cost);
    }
    const std::string& name = criterion.name;
    std::string caption = fmt::format(
        "A dot is a head. {}: {}.{} The cost of removing a head is {}.", name, criterion.formula,
        criterion.chose ? " The removed heads were chosen by it." : "",
        run.cost_name.empty() ? "the rise of the loss without this head alone" : run.cost_name);
    if (run.cost_reliability) {
      caption += fmt::format(
          " Measured on two halves of these examples, the costs have a rank correlation of {:.2f} "
          "with each other.",
          *run.cost_reliability);
    }
    found.push_back(
        correlation_finding(importance, cost,
                            {name + " predicts the cost of removal",
                             name + " predicts the cost of removal only roughly",
                             "No clear relation between " + name + " and the cost of removal",
                             "The lower " + name + ", the higher the cost of removal",
                             "Too few heads to compare " + name + " with the cost of removal"},
                            caption));
  }
  return found;
}

MaybeFinding importance_sums_finding(const ReportRecord& run) {
  const std::vector<ImportanceSums>& points = run.importance_sums;
  if (points.size() < 2) return {};
  const auto by_cost = [](const auto& a, const auto& b) { return a.cost < b.cost; };
  const auto [low, high] = std::minmax_element(points.begin(), points.end(), by_cost);
  const double sensitivity = points.front().sensitivity / points.back().sensitivity;
  const double cost = high->cost / low->cost;
  const std::string caption = fmt::format(
      "Sums over all heads, in {} per example. Sensitivity is a derivative of the loss with all "
      "heads present, which training drives to 0. The cost of removal is the rise of the loss "
      "when a gate goes from 1 to 0. The title reports a fall of sensitivity by a factor of {} or "
      "more if the costs stayed within a factor of {}.",
      loss_unit(run.task), fell, stayed);
  if (!std::isfinite(sensitivity) || sensitivity <= 0 || !(cost > 0))
    return Finding{"Sensitivity and cost over training", caption};
  if (sensitivity >= fell && cost <= stayed) {
    return Finding{fmt::format("Sensitivity fell {:.0f} times, while the cost of removal stayed "
                               "within a factor of {:.1f}",
                               sensitivity, cost),
                   caption};
  }
  return Finding{fmt::format("No clear pattern: sensitivity {} {:.1f} times, the cost of removal "
                             "changed by a factor of {:.1f}",
                             sensitivity >= 1 ? "fell" : "rose",
                             sensitivity >= 1 ? sensitivity : 1 / sensitivity, cost),
                 caption};
}

MaybeFinding arms_finding(const ReportRecord& run) {
  if (!run.arms || run.arms->arms.empty()) return {};
  const ArmsRecord& all = *run.arms;
  Index fewest = 0, most = 0;  // removed heads
  for (const ArmRecord& arm : all.arms) {
    if (arm.removed == 0) continue;
    fewest = fewest == 0 ? arm.removed : std::min(fewest, arm.removed);
    most = std::max(most, arm.removed);
  }
  const ArmRecord *chosen = arm_of(all, all.chosen_by, fewest),
                  *random = arm_of(all, at_random, fewest),
                  *random_of_most = arm_of(all, at_random, most);
  const std::string caption = fmt::format(
      "Exact match on {} examples of the test set, none of which chose a head, of one model from "
      "which heads were removed in one step: right after the removal and after {} more training "
      "steps. For several random draws the "
      "table shows the mean and all draws. The title calls a difference from random choices clear "
      "if two kinds of chance exceed it in less than 5 % of cases each: another random draw "
      "(Student's prediction interval), and other test examples.",
      with_commas(all.test_examples), with_commas(all.recovery));
  if (!chosen || !random || !random_of_most) {
    return Finding{"Exact match after heads were removed", caption};
  }
  return Finding{right_after(all, *chosen, *random) + "; " + after_recovery(all, *random_of_most),
                 caption};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
