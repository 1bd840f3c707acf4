// Measures of removed heads, by which the heads to bring back are chosen.
#pragma once

#include <span>
#include <vector>

#include "headroom/surgery/regrowth.hpp"
#include "headroom/train/learner.hpp"
#include "headroom_measure/importance/head_scores.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A removed head that may come back.
struct RemovedHead {
  HeadStash stash;
  /// [D]: the mean output that compensate() put into the output bias when the head was removed, and
  /// that has to leave it when the head comes back. Undefined: it did not.
  Array mean = {};
};

/// Takes the means of heads that have come back out of the output biases.
void undo_compensation(Module& model, std::span<const RemovedHead> heads);

/// By how much the mean loss falls when this head alone comes back as it was removed: v(live) -
/// v(live and h), on at most `examples` of ExampleSet::importance in evaluation mode. Negative: the
/// head would do harm now. One forward pass for each head and one more. Parameters are those of
/// before, to the bit; gradients are left as zero_grad() leaves them.
std::vector<HeadScore> gains_of_stashed(Learner& learner, std::span<const RemovedHead> heads,
                                        Index examples = 500);

/// The Frobenius norm of dL/dW_O^h, L the mean loss of the same examples, if this fresh head
/// (fresh_head()) were there: how fast the loss can fall by its first update. Its gate gradient
/// would be 0 for every head, because W_O^h = 0. As RigL ranks absent weights by their gradients
/// (Evci et al. 2020, section 3). One forward and backward pass for all heads. Parameters and
/// gradients as above.
std::vector<HeadScore> gains_of_fresh(Learner& learner, std::span<const HeadStash> heads,
                                      Index examples = 500);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
