// Losses on the tape.
#include "headroom/ops/losses.hpp"

#include "array/map.hpp"
#include "kernels/cross_entropy.hpp"
#include "kernels/simd.hpp"
#include "ops/rows.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Number of targets that are not ignored. Throws UsageError for one that is not a class.
Index check_targets(const Ids& targets, Index classes, const CrossEntropyOptions& options) {
  Index counted = 0;
  for (Index r = 0; r < targets.size(); ++r) {
    if (targets[r] == options.ignore_index) continue;
    ++counted;
    if (targets[r] < 0 || targets[r] >= classes) {
      throw UsageError(fmt::format(
          "cross_entropy: target {} at position {} is not one of the {} classes; ignored targets "
          "have the value ignore_index = {}",
          targets[r], r, classes, options.ignore_index));
    }
  }
  return counted;
}

/// The factor that turns a sum of losses into the reduction; 0 when there is nothing to average.
Real share_of_one(Reduction reduction, Index count) {
  if (reduction != Reduction::mean) return Real(1);
  return count == 0 ? Real(0) : Real(1) / Real(count);
}

Array scaled_sum(const Array& losses, Real factor) {
  return Array(Shape{}, {factor * kernels::row_sum(losses.data(), losses.size())});
}

}  // namespace

// loss_r = lse_r - sum_c q_rc x_rc with the target distribution q, whose entries add up to 1. Since
// dlse/dx_c = e^(x_c - lse), dx_rc = dloss_r (e^(x_rc - lse_r) - q_rc).
Tensor cross_entropy(const Tensor& logits, const Ids& targets, const CrossEntropyOptions& options) {
  OpScope op("cross_entropy");
  const auto [rows, classes] = rows_of(op, logits.value());
  if (!(logits.shape().without(-1) == targets.shape())) {
    throw ShapeError(fmt::format(
        "cross_entropy: logits {} take targets {}, one per row, but got {}", logits.shape().text(),
        logits.shape().without(-1).text(), targets.shape().text()));
  }
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1)) {
    throw UsageError(fmt::format("cross_entropy: label smoothing {} must be in [0, 1]",
                                 options.label_smoothing));
  }
  const Index counted = check_targets(targets, classes, options);
  Array losses(targets.shape()), log_sum_exp(targets.shape());
  kernels::cross_entropy(logits.value().data(),
                         {targets.data(), options.ignore_index, options.label_smoothing}, rows,
                         classes, losses.data(), log_sum_exp.data());
  const bool per_row = options.reduction == Reduction::none;
  const Real factor = share_of_one(options.reduction, counted);
  return record(op, per_row ? losses : scaled_sum(losses, factor), {logits},
                [logits = logits.value(), targets, log_sum_exp, options, per_row, factor,
                 rows = rows, classes = classes](const Array& dy, Gradients& into) {
                  const Array dloss = per_row ? dy : Array(targets.shape(), factor * dy[0]);
                  const auto [dx, add] = into[0].write_or_add();
                  kernels::cross_entropy_backward(
                      logits.data(),
                      {targets.data(), options.ignore_index, options.label_smoothing},
                      log_sum_exp.data(), dloss.data(), rows, classes, add, dx.data());
                });
}

Tensor squared_error(const Tensor& x, const Tensor& y, Reduction reduction) {
  OpScope op("squared_error");
  if (!(x.shape() == y.shape())) {
    throw ShapeError(fmt::format("squared_error: x {} and y {} must have the same shape",
                                 x.shape().text(), y.shape().text()));
  }
  const Array squares =
      map([](const auto& a, const auto& b) { return (a - b) * (a - b); }, x.value(), y.value());
  const bool per_element = reduction == Reduction::none;
  const Real factor = share_of_one(reduction, x.size());
  return record(
      op, per_element ? squares : scaled_sum(squares, factor), {x, y},
      [x = x.value(), y = y.value(), per_element, factor](const Array& dloss, Gradients& into) {
        const Array d = per_element ? dloss : Array(x.shape(), factor * dloss[0]);
        const auto slope = [](const auto& g, const auto& a, const auto& b) {
          return Real(2) * g * (a - b);
        };
        into[0] += map(slope, d, x, y);  // d(x - y)^2/dx = 2 (x - y)
        into[1] += map(slope, d, y, x);  // and by y its opposite
      });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
