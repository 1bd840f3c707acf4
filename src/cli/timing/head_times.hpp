// The time that each head of a model takes, measured, and cuts to a time limit.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "headroom_measure/pruning/model_cut.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Examples of the selection set in the forward pass that is timed.
constexpr Index timed_examples = 64;

/// Milliseconds of the model without each of these sets of heads: medians of forward passes without
/// the tape, over the same examples, that take turns.
std::vector<double> times_without(Learner& learner, ModelCut& cut,
                                  const std::vector<std::vector<HeadId>>& sets);

/// How long a model's forward pass takes, in milliseconds.
struct HeadTimes {
  double whole = 0;
  std::map<AttentionLocation, double> of_heads;  // one head of each attention
  /// Of the model without these heads, measured when it is called.
  std::function<double(const std::vector<HeadId>&)> without;

  double of(const HeadId& head) const { return of_heads.at({head.kind, head.layer}); }
};

/// The time of a head is what the model gains without half of the heads of its attention, divided
/// by their number, and at least a tenth of the mean of all attentions: a difference of two
/// measured times can be 0 or negative. If no attention gains anything, all heads get the same
/// time. The arguments must outlive the result.
HeadTimes measure_head_times(Learner& learner, ModelCut& cut);

/// Scores divided by the milliseconds of their heads, so that heads are removed first that take
/// much time for their importance: the idea of ZipLM, Kurtic et al. 2023.
std::vector<HeadScore> per_millisecond(std::vector<HeadScore> scores, const HeadTimes& times);

/// The heads with the lowest scores, as many as have to be removed for a forward pass of at most
/// `limit` milliseconds. Throws UsageError if the model is as fast already, or if the budget does
/// not allow enough removals.
std::vector<HeadId> heads_to_remove(Module& model, const HeadTimes& times,
                                    std::vector<HeadScore> scores, const Budget& budget,
                                    double limit);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
