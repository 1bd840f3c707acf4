// Findings about the choice of heads: metrics against true costs, over training, and after a cut.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/base/text.hpp"
#include "headroom/statistics/intervals.hpp"
#include "report/findings.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr double fell = 10, stayed = 2.5;  // factors, see importance_sums_finding
constexpr double normal_95 = 1.96;         // 95 % of a normal distribution is within +- this

/// The difference of two shares of n examples that chance exceeds in one of twenty cases when both
/// have the same expectation.
double difference_by_chance(double a, double b, Index n) {
  const double p = (a + b) / 2;
  return normal_95 * std::sqrt(2 * p * (1 - p) / double(std::max<Index>(n, 1)));
}

const ArmRecord* arm_of(const ArmsRecord& all, const std::string& choice, Index removed) {
  for (const ArmRecord& arm : all.arms) {
    if (arm.choice == choice && arm.removed == removed) return &arm;
  }
  return nullptr;
}

/// "Right after 6 heads are removed, 97.5 % are exact with the choice of fisher, 33.0 % with a
/// random one"
std::string right_after(const ArmsRecord& all, const ArmRecord& chosen, const ArmRecord& random) {
  const double ours = mean_of(chosen.cut), chance = mean_of(random.cut);
  const bool clear =
      std::abs(ours - chance) > difference_by_chance(ours, chance, all.test_examples);
  return fmt::format(
      "Right after {} heads are removed, {} are exact with the choice of {}, {} with a random "
      "one{}",
      chosen.removed, percent(ours), all.chosen_by, percent(chance),
      clear ? "" : " (no clear difference)");
}

/// "450 steps after the removal of 12 heads, the choice makes no clear difference
/// (99.2 % to 99.8 %)"
std::string after_recovery(const ArmsRecord& all, Index removed) {
  double low = 2, high = -1;
  std::string best, worst;
  for (const ArmRecord& arm : all.arms) {
    if (arm.removed != removed) continue;
    const double share = mean_of(arm.recovered);
    if (share < low) low = share, worst = arm.choice;
    if (share > high) high = share, best = arm.choice;
  }
  const std::string later =
      fmt::format("{} steps after the removal of {} heads,", with_commas(all.recovery), removed);
  if (high - low <= difference_by_chance(low, high, all.test_examples)) {
    return fmt::format("{} the choice makes no clear difference ({} to {})", later, percent(low),
                       percent(high));
  }
  return fmt::format("{} the best choice is {} ({}), the worst {} ({})", later, best, percent(high),
                     worst, percent(low));
}

}  // namespace

std::vector<Finding> criterion_findings(const RunRecord& run) {
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

MaybeFinding importance_sums_finding(const RunRecord& run) {
  const std::vector<ImportanceSums>& points = run.importance_sums;
  if (points.size() < 2) return {};
  const auto by_cost = [](const auto& a, const auto& b) { return a.cost < b.cost; };
  const auto [low, high] = std::minmax_element(points.begin(), points.end(), by_cost);
  const double sensitivity = points.front().sensitivity / points.back().sensitivity;
  const double cost = high->cost / low->cost;
  const std::string caption = fmt::format(
      "Sums over all heads, in nats per example. Sensitivity is a derivative of the loss with all "
      "heads present, which training drives to 0. The cost of removal is the rise of the loss "
      "when a gate goes from 1 to 0. The title reports a fall of sensitivity by a factor of {} or "
      "more if the costs stayed within a factor of {}.",
      fell, stayed);
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

MaybeFinding arms_finding(const RunRecord& run) {
  if (!run.arms || run.arms->arms.empty()) return {};
  const ArmsRecord& all = *run.arms;
  Index fewest = 0, most = 0;  // removed heads
  for (const ArmRecord& arm : all.arms) {
    if (arm.removed == 0) continue;
    fewest = fewest == 0 ? arm.removed : std::min(fewest, arm.removed);
    most = std::max(most, arm.removed);
  }
  const ArmRecord *chosen = arm_of(all, all.chosen_by, fewest),
                  *random = arm_of(all, "random", fewest);
  const std::string caption = fmt::format(
      "Exact match on {} unseen examples of one model from which heads were removed in one step: "
      "right after the removal and after {} more training steps. For several random draws the "
      "table shows the mean and all draws. The title calls a difference clear if chance exceeds "
      "it in less than 5 % of cases.",
      with_commas(all.test_examples), with_commas(all.recovery));
  if (!chosen || !random) return Finding{"Exact match after heads were removed", caption};
  return Finding{right_after(all, *chosen, *random) + "; " + after_recovery(all, most), caption};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
