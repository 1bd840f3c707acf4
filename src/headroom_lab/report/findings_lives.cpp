// Findings about the lives of a run's heads.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "headroom/base/text.hpp"
#include "headroom_runs/tables/table_tasks.hpp"
#include "report/findings.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The mean of finite numbers; NaN without any.
double mean_of(const std::vector<double>& numbers) {
  double sum = 0, count = 0;
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    sum += number;
    ++count;
  }
  return sum / count;
}

}  // namespace

MaybeFinding lives_finding(const ReportRecord& run) {
  if (run.lives.empty()) return {};
  const LifeLine& end = run.lives.back();
  std::map<HeadId, double> last_cost;
  for (const LifeLine& line : run.lives) {
    for (std::size_t i = 0; i < line.heads.size(); ++i) last_cost[line.heads[i]] = line.cost[i];
  }
  for (const HeadId& head : end.heads) last_cost.erase(head);  // the others were removed
  std::vector<double> of_removed;
  for (const auto& [head, cost] : last_cost) of_removed.push_back(cost);
  std::string caption = fmt::format(
      "Choose a head, and move the slider over the {} measured steps. The cost is the rise of the "
      "mean loss of {} unseen examples, in {}, when only this head is switched off. The gate "
      "gradient dL/dg at g = 1 predicts it to first order, as \u2212dL/dg. The map is that of one "
      "example. Vertical lines mark the chosen step and where the head was removed or came back.",
      run.lives.size(), end.examples, loss_unit(run.task));
  if (!end.model.empty()) caption += fmt::format(" Measured on the {} model.", end.model);
  const double removed = mean_of(of_removed), kept = mean_of(end.cost);
  if (!std::isfinite(removed) || !std::isfinite(kept))
    return Finding{"Lives of the heads", caption};
  return Finding{
      fmt::format("The {} removed heads cost {} {} on average when last measured, the {} others {} "
                  "at step {}",
                  of_removed.size(), small(removed), loss_unit(run.task), end.heads.size(),
                  small(kept), with_commas(end.step)),
      caption};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
