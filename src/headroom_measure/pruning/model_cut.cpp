// Cuts of trained models.
#include "headroom_measure/pruning/model_cut.hpp"

#include <algorithm>
#include <limits>

#include "headroom/base/error.hpp"
#include "headroom/statistics/intervals.hpp"
#include "headroom_measure/importance/choosers.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "headroom_measure/pruning/pruning_recipe.hpp"
#include "pruning/kept_values.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr Index all_examples = std::numeric_limits<Index>::max();

double mean_loss_of(const std::vector<double>& values) { return mean_interval(values).value; }

/// During its lifetime heads are removed from a model.
class Without {
 public:
  Without(Module& model, std::span<const HeadId> heads) : model_(model) {
    zero_grad(model);
    for (const NamedAttention& found : attentions(model)) {
      for (const HeadId& head : heads) {
        if (found.id(head.head) == head) shares_.push_back(share_of(found, head.head));
      }
    }
    prune(model, heads);
  }
  ~Without() { regrow(model_, shares_); }
  Without(const Without&) = delete;
  Without& operator=(const Without&) = delete;

 private:
  Module& model_;
  std::vector<HeadShare> shares_;
};

}  // namespace

double effective_heads(std::span<const HeadScore> scores) {
  double sum = 0, squares = 0;
  for (const HeadScore& entry : scores) {
    const double score = std::max(entry.score, 0.0);
    sum += score;
    squares += score * score;
  }
  if (squares > 0) return sum * sum / squares;
  throw UsageError("effective heads: no head has a score above 0");
}

ModelCut::ModelCut(Learner& learner, const CutOptions& options)
    : learner_(&learner), options_(options) {
  head_chooser(options.chooser);  // throws
  if (is_metric_choice(options.chooser)) {
    importance_ =
        measure_importance(
            learner, {options.chooser},
            {.examples = options.examples, .seed = options.seed, .recorded = options.recorded})
            .importance(options.chooser);
  } else {
    game_.emplace(learner, ExampleSet::importance, options.examples);
  }
  if (options.compensation == Compensation::mean) {
    means_ = mean_head_outputs(learner, live_heads(learner.model()), ExampleSet::importance,
                               options.examples);
  }
}

Index ModelCut::most() const {
  return most_removable(learner_->model(), live_heads(learner_->model()), options_.budget);
}

std::vector<HeadId> ModelCut::choose(Index remove) {
  if (!game_) {
    return first_allowed(learner_->model(), least_important_first(importance_), remove,
                         options_.budget);
  }
  const Chooser chooser =
      head_chooser(options_.chooser).make({.seed = options_.seed, .recorded = options_.recorded});
  std::vector<HeadId> heads = chooser(*game_, remove, options_.budget);
  heads.resize(std::size_t(remove));
  return heads;
}

void ModelCut::compensate_for(std::span<const HeadId> removed) {
  std::map<HeadId, Array> own;
  for (const HeadId& head : removed) {
    if (means_.contains(head)) own[head] = means_.at(head);
  }
  compensate(learner_->model(), own);
}

void ModelCut::without(std::span<const HeadId> removed, const std::function<void()>& work) {
  const KeptValues before(learner_->model());
  compensate_for(removed);
  const Without now(learner_->model(), removed);
  work();
}

std::vector<double> ModelCut::losses(ExampleSet set, std::span<const HeadId> removed) {
  std::vector<double> losses;
  without(removed, [&] { losses = example_losses(*learner_, set, all_examples); });
  return losses;
}

std::vector<HeadId> ModelCut::most_within(double increase) {
  const double whole = mean_loss_of(losses(ExampleSet::selection, {}));
  for (Index remove = most(); remove >= 1; --remove) {
    std::vector<HeadId> heads = choose(remove);
    if (mean_loss_of(losses(ExampleSet::selection, heads)) - whole <= increase) return heads;
  }
  return {};
}

void ModelCut::apply(std::span<const HeadId> removed) {
  compensate_for(removed);
  prune(learner_->model(), removed);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
