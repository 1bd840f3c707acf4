// Losses, composed of other operations.
#include "headroom/ops/composed.hpp"
#include "headroom/ops/ops.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace composed {

namespace {

Tensor reduced(const Tensor& losses, Reduction reduction, Index counted) {
  if (reduction == Reduction::none) return losses;
  const Tensor total = sum(losses);
  if (reduction == Reduction::sum) return total;
  return total * (counted == 0 ? Real(0) : 1 / Real(counted));
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Ids& targets, const CrossEntropyOptions& options) {
  const Index classes = logits.dim(-1);
  Array wanted(logits.shape(), Real(0));  // (1 - smoothing) one-hot + smoothing / V
  Index counted = 0;
  for (Index r = 0; r < targets.size(); ++r) {
    if (targets[r] == options.ignore_index) continue;
    ++counted;
    Real* const row = wanted.data() + r * classes;
    std::fill_n(row, classes, options.label_smoothing / Real(classes));
    row[targets[r]] += 1 - options.label_smoothing;
  }
  const Tensor losses = -sum(composed::log_softmax(logits) * constant(wanted), {-1});
  return reduced(losses, options.reduction, counted);
}

Tensor squared_error(const Tensor& x, const Tensor& y, Reduction reduction) {
  const Tensor difference = x - y;
  return reduced(difference * difference, reduction, x.size());
}

}  // namespace composed
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
