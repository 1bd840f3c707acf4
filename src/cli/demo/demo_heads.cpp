// Metrics and costs of the demo's heads.
#include "cli/demo/demo_heads.hpp"

#include <numeric>

#include "headroom/base/at.hpp"
#include "headroom/statistics/ranks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

HeadCosts head_costs(Learner& learner, Index examples) {
  HeadGame game(learner, ExampleSet::selection, examples);
  std::vector<HeadSet> subsets{game.all()};
  for (Index head = 0; head < game.size(); ++head) subsets.push_back(game.all().without(head));
  const std::vector<std::vector<double>> losses = game.example_losses(subsets);
  const std::vector<double>& whole = losses[0];
  std::vector<double> even, odd;  // the costs on examples 0, 2, 4, ... and on 1, 3, 5, ...
  HeadCosts found;
  for (Index head = 0; head < game.size(); ++head) {
    const std::vector<double>& without = at(losses, head + 1);
    double sums[2] = {0, 0};
    for (std::size_t i = 0; i < whole.size(); ++i) sums[i % 2] += without[i] - whole[i];
    even.push_back(sums[0]);
    odd.push_back(sums[1]);
    found.cost.push_back((sums[0] + sums[1]) / double(whole.size()));
  }
  found.reliability = rank_correlation(even, odd);
  return found;
}

ImportanceSums importance_sums(Learner& learner, Index step, Index examples) {
  const std::vector<HeadScore> scores =
      measure_importance(learner, {demo_other_metric}, {.examples = examples})
          .importance(demo_other_metric);
  ImportanceSums sums{.step = step};
  for (const HeadScore& score : scores) sums.sensitivity += score.score;
  const std::vector<double> cost = head_costs(learner, examples).cost;
  sums.cost = std::accumulate(cost.begin(), cost.end(), 0.0);
  return sums;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
