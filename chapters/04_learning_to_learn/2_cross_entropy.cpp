//! title: cross_entropy
//! replaces: headroom::cross_entropy
//! minutes: 25
//! difficulty: 2
//! path: short
//! needs: 04/1
//! hint: p can be so small that the computer stores 0, and log 0 is infinite. Can you get log p
//!   without computing p first? And lse without computing e^1000?
//! hint: lse[row] = largest + log(sum of e^(x_c - largest)), the loss as in the contract. A share
//!   of 1 / counted for each row makes the sum of the losses a mean; dloss contains it, too.
//! hint: losses[row] += q(row, c) * (lse[row] - x[i]). dloss is per_row ? dy[row] : share * dy[0].
//!   dx[i] = dloss * (std::exp(x[i] - lse[row]) - q(row, c)).
//! after: The closure computes p again from x and lse. To keep p would take as much memory as the
//!   logits, which are the largest tensor of many language models.
// Exercise 04/2, cross_entropy: what the wrong choice costs.
#include "2_cross_entropy.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Throws for logits, targets and options that do not fit.
void check_arguments(const Tensor& logits, const Ids& targets, const CrossEntropyOptions& options) {
  if (logits.rank() == 0 || !(logits.shape().without(-1) == targets.shape())) {
    throw ShapeError(fmt::format(
        "cross_entropy: logits {} take targets {}, one per row, but got {}", logits.shape().text(),
        logits.rank() == 0 ? "" : logits.shape().without(-1).text(), targets.shape().text()));
  }
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1)) {
    throw UsageError(fmt::format("cross_entropy: label smoothing {} must be in [0, 1]",
                                 options.label_smoothing));
  }
  for (Index row = 0; row < targets.size(); ++row) {
    if (targets[row] == options.ignore_index) continue;
    if (targets[row] >= 0 && targets[row] < logits.dim(-1)) continue;
    throw UsageError(fmt::format(
        "cross_entropy: target {} at position {} is not one of the {} classes; ignored targets "
        "have the value ignore_index = {}",
        targets[row], row, logits.dim(-1), options.ignore_index));
  }
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Ids& targets, const CrossEntropyOptions& options) {
  OpScope op("cross_entropy");
  check_arguments(logits, targets, options);
  const Array x = logits.value();
  const Index rows = targets.size(), classes = logits.dim(-1);
  const auto ignored = [=](Index row) { return targets[row] == options.ignore_index; };
  const auto q = [=](Index row, Index c) {
    const Real smoothing = options.label_smoothing;
    return (c == targets[row] ? 1 - smoothing : Real(0)) + smoothing / Real(classes);
  };

  Array losses = zeros(targets.shape()), lse = zeros(targets.shape());
  Index counted = 0;
  for (Index row = 0; row < rows; ++row) {
    if (ignored(row)) continue;
    ++counted;
    //! solution
    Real largest = x[row * classes];
    for (Index c = 0; c < classes; ++c) largest = std::max(largest, x[row * classes + c]);
    Real sum = 0;
    for (Index c = 0; c < classes; ++c) sum += std::exp(x[row * classes + c] - largest);
    lse[row] = largest + std::log(sum);
    for (Index c = 0; c < classes; ++c) {
      losses[row] += q(row, c) * (lse[row] - x[row * classes + c]);
    }
    //! skeleton
    // lse[row] = chapter::todo("log sum_c e^x_c of this row");
    // losses[row] = chapter::todo("the loss of this row");
    //! wrong no_maximum: a sum that contains e^100
    // Real sum = 0;
    // for (Index c = 0; c < classes; ++c) sum += std::exp(x[row * classes + c]);
    // lse[row] = std::log(sum);
    // losses[row] = lse[row] - x[row * classes + targets[row]];
    //! wrong log_of_softmax: the logarithm of a share that is stored as 0
    //- for (Index c = 0; c < classes; ++c) {
    //-   losses[row] += q(row, c) * (lse[row] - x[row * classes + c]);
    //- }
    //+ losses[row] = -std::log(std::exp(x[row * classes + targets[row]] - largest) / sum);
    //! mistake tiny_number: a small number was added to p so that log p stays finite. The loss
    //!   stops growing where the model is most wrong
    //- for (Index c = 0; c < classes; ++c) {
    //-   losses[row] += q(row, c) * (lse[row] - x[row * classes + c]);
    //- }
    //+ const Real p = std::exp(x[row * classes + targets[row]] - largest) / sum;
    //+ losses[row] = -std::log(p + Real(is_double ? 1e-12 : 1e-7));
    //! mistake softmax_twice: softmax was applied twice: the loss was computed from p as if p were
    //!   logits
    // Array p(Shape{classes});
    // Real sum = 0, sum_of_p = 0;
    // for (Index c = 0; c < classes; ++c) sum += std::exp(x[row * classes + c]);
    // for (Index c = 0; c < classes; ++c) p[c] = std::exp(x[row * classes + c]) / sum;
    // for (Index c = 0; c < classes; ++c) sum_of_p += std::exp(p[c]);
    // losses[row] = std::log(sum_of_p) - p[targets[row]];
    //! mistake no_logarithm: the logarithm is missing: this is 1 - p
    // Real sum = 0;
    // for (Index c = 0; c < classes; ++c) sum += std::exp(x[row * classes + c]);
    // losses[row] = 1 - std::exp(x[row * classes + targets[row]]) / sum;
    //! mistake no_sum: the logarithm of the sum is missing: this is -x of the target
    //- for (Index c = 0; c < classes; ++c) {
    //-   losses[row] += q(row, c) * (lse[row] - x[row * classes + c]);
    //- }
    //+ losses[row] = -x[row * classes + targets[row]];
    //! mistake ignores_q: label smoothing was left out: q(row, c) is not 0 for the other classes
    //- for (Index c = 0; c < classes; ++c) {
    //-   losses[row] += q(row, c) * (lse[row] - x[row * classes + c]);
    //- }
    //+ losses[row] = lse[row] - x[row * classes + targets[row]];
    //! end
  }

  // `share` is the factor of each row's loss in the sum.
  //! solution
  Real share = 1;
  if (options.reduction == Reduction::mean) share = counted == 0 ? Real(0) : 1 / Real(counted);
  //! skeleton
  // const Real share = chapter::todo("1 for a sum; and for a mean?");
  //! mistake summed: the losses were added and not divided: the result is 6 times too large, the
  //!   number of rows that count
  // const Real share = 1;
  //! mistake counts_ignored: it was divided by all rows. Then the same sentence has a smaller loss
  //!   in a batch with more padding
  // const Real share = options.reduction == Reduction::mean ? 1 / Real(rows) : Real(1);
  //! wrong zero_by_zero: all targets are ignored
  // const Real share = options.reduction == Reduction::mean ? 1 / Real(counted) : Real(1);
  //! mistake always_a_mean: it was divided as a mean is; a sum must not be divided
  // const Real share = counted == 0 ? Real(0) : 1 / Real(counted);
  //! wrong flat: have the shape [6], expected [2, 3]
  //    for (const Real loss : losses.span()) y[0] += share * loss;
  //  }
  //+ if (per_row) y = y.reshaped({rows});
  //! wrong not_recorded: the result is not recorded on the tape
  //+ return Tensor(y);
  //  return record(op, y, {logits}, [=](const Array& dy, Gradients& into) {
  //! end
  const bool per_row = options.reduction == Reduction::none;
  Array y = losses;
  if (!per_row) {
    y = zeros(Shape{});
    for (const Real loss : losses.span()) y[0] += share * loss;
  }

  return record(op, y, {logits}, [=](const Array& dy, Gradients& into) {
    Array dx = zeros(x.shape());
    for (Index row = 0; row < rows; ++row) {
      if (ignored(row)) continue;
      //! solution
      const Real dloss = per_row ? dy[row] : share * dy[0];
      //! skeleton
      // const Real dloss = chapter::todo("dL/dloss of this row, from dy");
      //! mistake forgets_dy: dy is missing: the gradient of what comes after never gets through
      // const Real dloss = per_row ? Real(1) : share;
      //! wrong gradient_summed: 6 times too large, which is the number of rows
      // const Real dloss = per_row ? dy[row] : dy[0];
      //! end
      for (Index c = 0; c < classes; ++c) {
        const Index i = row * classes + c;
        //! solution
        dx[i] = dloss * (std::exp(x[i] - lse[row]) - q(row, c));
        //! skeleton
        // dx[i] = chapter::todo("the gradient of x_c", dloss);
        //! wrong q_minus_p: The sign is flipped
        // dx[i] = dloss * (q(row, c) - std::exp(x[i] - lse[row]));
        //! mistake forgets_q: the wanted share was not subtracted: without q, every logit is pushed
        //!   down
        // dx[i] = dloss * std::exp(x[i] - lse[row]);
        //! mistake target_only: only the target's logit gets a gradient: the others must be pushed
        //!   down, each by its p
        // dx[i] = c == targets[row] ? dloss * (std::exp(x[i] - lse[row]) - 1) : Real(0);
        //! mistake no_smoothing_back: label smoothing was left out of the gradient
        // dx[i] = dloss * (std::exp(x[i] - lse[row]) - (c == targets[row] ? Real(1) : Real(0)));
        //! wrong adds_nothing: no gradient arrived at logits
        //- into[0] += dx;
        //! wrong overwrites: the gradient of logits was replaced, not added to
        //- into[0] += dx;
        //+ std::copy_n(dx.data(), dx.size(), into[0].sum().data());
        //! end
      }
    }
    into[0] += dx;
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
