// Choosing by a metric, and the chooser worst_first.
#include <algorithm>

#include "headroom_measure/importance/head_metric.hpp"
#include "headroom_measure/importance/regret.hpp"
#include "importance/choosers/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The players by a metric, those with the lowest importance first.
std::vector<HeadId> ranking(HeadGame& game, const std::string& metric,
                            const ChooserOptions& options) {
  const ImportanceOptions measured{.set = game.set(),
                                   .examples = game.most(),
                                   .seed = options.seed,
                                   .recorded = options.recorded};
  const bool all = game.players() == live_heads(game.model());  // then the game remembers values
  const ImportanceTable table = all ? measure_importance(game, {metric}, measured)
                                    : measure_importance(game.learner(), {metric}, measured);
  std::vector<HeadId> order = least_important_first(table.importance(metric));
  std::erase_if(order, [&](const HeadId& head) {
    return std::find(game.players().begin(), game.players().end(), head) == game.players().end();
  });
  return order;
}

}  // namespace

Chooser by_metric(const std::string& metric, const ChooserOptions& options) {
  options.check();
  head_metric(metric);  // throws
  return [metric, options](HeadGame& game, Index remove, const Budget& budget) {
    return first_allowed(game.model(), ranking(game, metric, options), remove, budget);
  };
}

Chooser worst_first(const std::string& metric, const ChooserOptions& options) {
  options.check();
  head_metric(metric);  // throws
  return [metric, options](HeadGame& game, Index remove, const Budget& budget) {
    std::vector<HeadId> order = ranking(game, metric, options);
    std::reverse(order.begin(), order.end());
    return first_allowed(game.model(), order, remove, budget);
  };
}

ChooserEntry chooser_worst_first() {
  return {{.name = negative_control,
           .formula = "the heads with the highest leave_one_out, v(all but h) - v(all)",
           .source = "control",
           .cost = "N F"},
          [](const ChooserOptions& options) { return worst_first("leave_one_out", options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
