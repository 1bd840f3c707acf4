// The direct path from the residual stream to the correct logits. Private.
#pragma once

#include <string>

#include "headroom_measure/importance/head_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The last norm of a pre-norm model and its output layer. What a head adds to the residual stream
/// of the last stack comes to them unchanged, beside all ways through later layers.
class Readout {
 public:
  /// Of an encoder-decoder, a language model or a classifier.
  explicit Readout(Module& model);
  /// Why there is none; empty: there is one.
  const std::string& absent() const { return absent_; }
  /// Whether heads of this kind add to the residual stream of the last stack.
  bool reads(AttentionKind kind) const;
  /// For every row x [C] of the residual stream of a batch, [B T, C]: the gradient of
  ///
  ///   the sum over the labels of their logit, less the mean of the logits,
  ///
  /// where the scale s of the norm, (x - mean) / s w + b, is a constant (s = sqrt(mean(x^2)) and no
  /// mean for RMS norm). The logits then are linear in x. Softmax ignores the mean of the logits.
  Array gradient(const Evidence& batch) const;

 private:
  void read(const Norm* norm, const Tensor& weight);

  std::string absent_;
  const Norm* norm_ = nullptr;
  ModelKind kind_ = ModelKind::seq2seq;
  Array weight_;              // of the output layer, [V, C]
  std::vector<double> mean_;  // over its rows, [C]
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
