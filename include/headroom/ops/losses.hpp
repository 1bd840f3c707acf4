// Cross-entropy from logits.
#pragma once

#include "headroom/autograd/tensor.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The reductions of a loss over its labels: none, their sum, or their mean.
enum class Reduction { none, sum, mean };

/// How cross_entropy treats its targets.
struct CrossEntropyOptions {
  Real label_smoothing =
      0;  // epsilon: the target distribution is (1 - epsilon) one-hot + epsilon / V
  std::int32_t ignore_index = -100;  // targets of this value count for nothing
  Reduction reduction = Reduction::mean;
};

/// -sum_v q_v log softmax(logits)_v, by log-sum-exp, for logits [..., V] and targets [...].
/// mean divides by the number of targets that are not ignored; when all are, the loss is 0 and its
/// gradient too. none returns the targets' shape. Szegedy et al. 2016, section 7, for smoothing, as
/// PyTorch does it. Throws ShapeError, or UsageError for a target outside [0, V). Unfused:
/// composed::cross_entropy.
Tensor cross_entropy(const Tensor& logits, const Ids& targets,
                     const CrossEntropyOptions& options = {});

/// Mean, sum or all of (x - y)^2. Throws ShapeError. Unfused: composed::squared_error.
Tensor squared_error(const Tensor& x, const Tensor& y, Reduction reduction = Reduction::mean);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
