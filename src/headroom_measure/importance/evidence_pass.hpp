// The pass over the examples that all metrics share. Private.
#pragma once

#include <functional>
#include <vector>

#include "headroom_measure/importance/head_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Runs a model on one batch after another, and collects the evidence that is needed: one forward
/// pass, at most one backward pass from the losses and at most logit_directions from the logits.
class EvidencePass {
 public:
  EvidencePass(Module& model, const MetricNeeds& needs, std::uint64_t seed);
  /// Leaves the gradients as zero_grad() does. Throws UsageError if the probe does not reach the
  /// model's attentions.
  void run(const ProbedBatch& batch, const std::function<void(const Evidence&)>& see);

 private:
  HeadProbe asked(Index examples) const;
  void keep_output_gradients(const HeadProbe& probe) const;
  /// Reads the gradients of the gates, [examples, heads], and sets them back to zero.
  Array taken_gate_gradients(HeadProbe& probe, Index examples) const;
  std::vector<Array> token_gate_gradients(const HeadProbe& probe, Index examples) const;
  Array directions(const Tensor& logits, const Ids& labels, Index number) const;

  Module& model_;
  MetricNeeds needs_;
  std::uint64_t seed_;
  std::vector<NamedAttention> attentions_;
  std::vector<HeadId> heads_;
  std::vector<Index> rows_;  // Evidence::row_of_head
  Index done_ = 0;           // examples
};

/// How many of the queries of example b, of `queries` in the batch, are not padding.
inline Index real_queries(const Evidence& batch, AttentionKind kind, Index b, Index queries) {
  const auto lengths = batch.probe.query_lengths.find(kind);
  return lengths == batch.probe.query_lengths.end() ? queries : Index{lengths->second[b]};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
