// The loss as a game among heads.
#include "headroom/heads/head_game.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/train/evaluation.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

HeadGame::HeadGame(Learner& learner, ExampleSet set, Index most, std::vector<HeadId> players)
    : learner_(&learner), set_(set), most_(most), players_(std::move(players)) {
  const std::vector<HeadId> live = live_heads(learner.model());
  if (players_.empty()) players_ = live;
  if (players_.empty() || players_.size() > 64) {
    throw UsageError(fmt::format("head game: {} players; 1 to 64 can play", players_.size()));
  }
  for (const HeadId& head : players_) {
    if (std::find(live.begin(), live.end(), head) != live.end()) continue;
    throw UsageError(fmt::format("head game: {} is not alive", head.text()));
  }
}

std::vector<double> HeadGame::example_losses(HeadSet subset) {
  const Evaluating now(learner_->model());
  std::map<AttentionLocation, Array> gates;
  for (const NamedAttention& found : attentions(learner_->model())) {
    gates[found.location()] = ones({found.attention->config().heads});
  }
  for (Index i = 0; i < size(); ++i) {
    const HeadId& head = at(players_, i);
    if (!subset.contains(i)) gates.at({head.kind, head.layer})[head.head] = 0;
  }
  std::vector<double> losses;
  learner_->visit(set_, most_, [&](const ProbedBatch& batch) {
    HeadProbe probe;
    for (const auto& [location, values] : gates) probe.gates[location] = constant(values);
    const Tensor of_batch = batch.losses(probe);  // a loop over a temporary's span would dangle
    for (const Real loss : of_batch.value().span()) losses.push_back(double(loss));
  });
  ++passes_;
  return losses;
}

std::vector<double> HeadGame::values(std::span<const HeadSet> subsets) {
  std::vector<double> means;
  for (const HeadSet subset : subsets) {
    const std::vector<double> losses = example_losses(subset);
    means.push_back(std::accumulate(losses.begin(), losses.end(), 0.0) / double(losses.size()));
  }
  return means;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
