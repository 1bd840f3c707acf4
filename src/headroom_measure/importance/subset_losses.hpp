// The losses of a batch of examples without some heads, for many sets of heads. Private.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "headroom_measure/importance/head_game.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Runs the examples of one batch under the gates of many subsets, several subsets in one forward
/// pass: a row of the pass is an example and a subset. The output of an encoder is kept for all
/// subsets that have the same heads in the encoder. Model and batch must outlive this object, and
/// nothing may be put on the tape.
class SubsetLosses {
 public:
  /// The loss of each example of the batch for subsets[subset].
  using See = std::function<void(std::size_t subset, std::span<const Real> losses)>;

  SubsetLosses(Module& model, std::span<const HeadId> players, const ProbedBatch& batch);
  /// Calls `see` once for each subset. The losses of a subset do not depend on the others.
  void run(std::span<const HeadSet> subsets, const See& see);

 private:
  using Order = std::vector<std::size_t>;  // positions of subsets

  HeadSet encoder_part(HeadSet subset) const;
  HeadProbe probe_of(std::span<const HeadSet> subsets, Index copies) const;
  const ProbedBatch& copies(Index count);
  Tensor losses_of(std::span<const HeadSet> group);

  std::span<const HeadId> players_;
  const ProbedBatch& batch_;
  std::vector<NamedAttention> attentions_;
  HeadSet in_encoder_;
  Index rows_;                           // of a copy: the examples, and a filler
  Index together_;                       // subsets in a forward pass
  std::map<Index, ProbedBatch> copies_;  // by their number
  std::map<HeadSet, Array> encoded_;     // by the encoder's part
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
