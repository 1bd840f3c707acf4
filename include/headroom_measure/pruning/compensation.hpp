// Compensation: adds the mean output of a head to the output bias before the head is removed.
#pragma once

#include <map>
#include <span>

#include "headroom/nn/attention.hpp"
#include "headroom/train/learner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The replacement of a removed head's output: nothing, or its mean, which is added to b_O.
enum class Compensation { none, mean };

/// E A_h of live heads, [D] each: the mean of a head's output before W_O over the queries of the
/// examples, without padding. At most `examples` of a set, in evaluation mode. Gradients are left
/// as zero_grad() leaves them. Throws UsageError for a head that is not alive and for an empty set.
std::map<HeadId, Array> mean_head_outputs(Learner& learner, std::span<const HeadId> heads,
                                          ExampleSet set = ExampleSet::importance,
                                          Index examples = 500);

/// b_O := b_O + W_O^h m_h for each head h with its mean m_h. Call it before the heads are removed:
/// a head whose output is always m_h can then be removed without any change of the function. A head
/// without W_O or b_O is left alone, and so is one with parameters of role `extra`, because it may
/// add more than A_h W_O^h to the output. A head that comes back brings its mean with it: give the
/// negative means then. Gradients and moments do not change. Throws, before anything changes,
/// UsageError for a head that is not alive, ShapeError for a mean that does not fit.
void compensate(Module& model, const std::map<HeadId, Array>& means);

/// Prepares the removal of live heads: measures their means on at most `examples` of
/// ExampleSet::importance and compensates for them, or does nothing.
void compensate(Learner& learner, std::span<const HeadId> heads, Compensation how,
                Index examples = 500);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
