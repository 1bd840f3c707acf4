// The measurements of heads that the demo shows: two metrics, and what removing each head costs.
#pragma once

#include <string>
#include <vector>

#include "headroom_lab/report/report_record.hpp"
#include "headroom_measure/importance/head_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The metric that chooses the demo's heads, and the one that it is compared with.
inline constexpr const char* demo_metric = "random_masks";
inline constexpr const char* demo_other_metric = "sensitivity";

/// Costs of removing each live head alone, in nats per example, in the order of live_heads().
struct HeadCosts {
  std::vector<double> cost;
  double reliability = 0;  // rank correlation between the costs on two halves of the examples
};
/// On at most `examples` of ExampleSet::selection, which metrics do not see.
HeadCosts head_costs(Learner& learner, Index examples);

/// The sums of sensitivities and of costs at this point of training.
ImportanceSums importance_sums(Learner& learner, Index step, Index examples);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
