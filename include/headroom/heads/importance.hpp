// Importance: the sensitivity of the loss to each head, and its rise without the head.
#pragma once

#include <vector>

#include "headroom/train/learner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The score of a head. Larger means more important in every metric.
struct HeadScore {
  HeadId head;
  double score = 0;
};

/// Sensitivity of the loss to each live head's gate, E_x |dL(x)/dg_h| at g = 1: the mean over
/// examples of the absolute gradient with respect to the example's own gate. Michel, Levy and
/// Neubig 2019, equation 2. One forward and one backward pass per batch. Gradients of the model's
/// parameters are left as zero_grad() leaves them.
class Sensitivity {
 public:
  explicit Sensitivity(Module& model);
  /// Adds a batch. The caller sets evaluation mode.
  void add(const ProbedBatch& batch);
  /// In the order of live_heads(). Throws UsageError before the first batch.
  std::vector<HeadScore> scores() const;

 private:
  Module& model_;
  std::vector<NamedAttention> attentions_;
  std::map<HeadId, double> sums_;
  Index examples_ = 0;
};

/// The cost of removing each live head alone: the rise of the loss when its gate is 0, averaged
/// over examples. Takes one forward pass per batch, and one for each head and batch; nothing is
/// recorded on the tape.
class RemovalCost {
 public:
  static constexpr const char* in_words =
      "the mean rise of an unseen example's loss when only this head is switched off";
  explicit RemovalCost(Module& model);
  /// Adds a batch. The caller sets evaluation mode.
  void add(const ProbedBatch& batch);
  /// In the order of live_heads(). Throws UsageError before the first batch.
  std::vector<HeadScore> scores() const;

 private:
  std::vector<NamedAttention> attentions_;
  std::map<HeadId, double> sums_;
  Index examples_ = 0;
};

/// Sum of two scores of the same heads (for heads that two models remove together). Throws
/// UsageError when the heads differ.
std::vector<HeadScore> added(const std::vector<HeadScore>& a, const std::vector<HeadScore>& b);

/// Heads by rising score; equal scores in the order of HeadId.
std::vector<HeadId> least_important_first(std::vector<HeadScore> scores);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
