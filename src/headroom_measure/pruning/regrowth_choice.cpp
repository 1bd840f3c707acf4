// Trials of removed heads.
#include "headroom_measure/pruning/regrowth_choice.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "headroom/ops/reductions.hpp"
#include "headroom/statistics/intervals.hpp"
#include "headroom/train/evaluation.hpp"
#include "headroom_measure/pruning/compensation.hpp"
#include "importance/unfrozen.hpp"
#include "pruning/kept_values.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// During its lifetime removed heads are back in a model. The optimizer does not learn of it.
class Trial {
 public:
  Trial(Module& model, std::span<const HeadShare> shares) : model_(model), before_(model) {
    for (const HeadShare& share : shares) heads_.push_back(share.head);
    regrow(model, shares);
  }
  ~Trial() { prune(model_, heads_); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

 private:
  Module& model_;
  KeptValues before_;  // compensation changes biases
  std::vector<HeadId> heads_;
};

double norm_of(const Array& array) {
  double squares = 0;
  for (const Real x : array.span()) squares += double(x) * double(x);
  return std::sqrt(squares);
}

}  // namespace

void undo_compensation(Module& model, std::span<const RemovedHead> heads) {
  std::map<HeadId, Array> negative;
  for (const RemovedHead& head : heads) {
    if (!head.mean.defined()) continue;
    Array& mean = negative[head.stash.share.head] = head.mean.clone();
    for (Real& x : mean.span()) x = -x;
  }
  compensate(model, negative);
}

std::vector<HeadScore> gains_of_stashed(Learner& learner, std::span<const RemovedHead> heads,
                                        Index examples) {
  const auto loss = [&] {
    return mean_of(example_losses(learner, ExampleSet::importance, examples));
  };
  const double now = loss();
  std::vector<HeadScore> gains;
  for (const RemovedHead& head : heads) {
    const Trial trial(learner.model(), {&head.stash.share, 1});
    undo_compensation(learner.model(), {&head, 1});
    gains.push_back({head.stash.share.head, now - loss()});
  }
  return gains;
}

std::vector<HeadScore> gains_of_fresh(Learner& learner, std::span<const HeadStash> heads,
                                      Index examples) {
  Module& model = learner.model();
  std::vector<HeadShare> shares;
  for (const HeadStash& head : heads) shares.push_back(head.share);
  const Trial trial(model, shares);
  const EvalMode now(model);
  const Unfrozen all(model);
  zero_grad(model);
  Index count = 0;
  learner.visit(ExampleSet::importance, examples, [&](const ProbedBatch& batch) {
    HeadProbe probe;
    sum(batch.losses(probe)).backward();
    count += batch.examples;
  });
  std::vector<HeadScore> gains;
  for (const HeadStash& head : heads) {
    const HeadId& id = head.share.head;
    for (const NamedAttention& found : attentions(model)) {
      if (!(found.id(id.head) == id)) continue;
      const HeadShare share = share_of(found, id.head);
      const auto gradient = share.gradient.find(HeadRole::output);
      const double norm = gradient == share.gradient.end() ? 0 : norm_of(gradient->second);
      gains.push_back({id, norm / double(count)});
    }
  }
  return gains;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
