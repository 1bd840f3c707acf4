//! title: dropout
//! replaces: headroom::dropout
//! minutes: 10
//! difficulty: 1
//! path: short
//! needs: 03/1
//! hint: If a tenth of the elements becomes 0, what happens to the mean of the others' sum? And dy
//!   of an element that was set to 0: how much does x move the loss there?
//! hint: One loop forwards, one backwards, with the same factor for element i: 0 or 1 / (1 - p).
//!   Only stream.uniform(i) may decide which.
//! hint: factor = Real(stream.uniform(i)) >= p ? 1 / (1 - p) : 0.
//!   y[i] = x[i] * factor and dx[i] = dy[i] * factor.
//! after: The library's own, in src/headroom/kernels/dropout.cpp, draws 512 numbers at once and is
//!   one function for both directions.
// Exercise 09/4, dropout: random zeros that can be computed again.
#include "4_dropout.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor dropout(const Tensor& x, Real p, const MaskStream& stream) {
  OpScope op("dropout");
  if (!(p >= 0 && p <= 1)) {
    throw UsageError(fmt::format("dropout: p = {} is not a probability; it must be in [0, 1]", p));
  }
  if (p == 0) return x;
  Array y(x.shape());
  //! solution
  for (Index i = 0; i < y.size(); ++i) {
    const bool kept = Real(stream.uniform(i)) >= p;
    y[i] = kept ? x.value()[i] / (1 - p) : 0;
  }
  return record(op, y, {x}, [p, stream](const Array& dy, Gradients& into) {
    Array dx(dy.shape());
    for (Index i = 0; i < dx.size(); ++i) {
      const bool kept = Real(stream.uniform(i)) >= p;
      dx[i] = kept ? dy[i] / (1 - p) : 0;
    }
    into[0] += dx;
  });
  //! skeleton
  // for (Index i = 0; i < y.size(); ++i) {
  //   y[i] = chapter::todo("the value");
  // }
  // return record(op, y, {x}, [p, stream](const Array& dy, Gradients& into) {
  //   Array dx(dy.shape());
  //   for (Index i = 0; i < dx.size(); ++i) {
  //     dx[i] = chapter::todo("the gradient");
  //   }
  //   into[0] += dx;
  // });
  //! mistake unscaled: the elements that are kept were not scaled: the mean of the output falls to
  //!   1 - p of what the next layer sees without dropout
  //- y[i] = kept ? x.value()[i] / (1 - p) : 0;
  //+ y[i] = kept ? x.value()[i] : 0;
  //! mistake p_is_kept: p was taken for the probability to be kept: it is the probability to be
  //!   dropped
  //- const bool kept = Real(stream.uniform(i)) >= p;
  //- y[i] = kept ? x.value()[i] / (1 - p) : 0;
  //+ y[i] = Real(stream.uniform(i)) < p ? x.value()[i] / p : 0;
  // ...
  //- const bool kept = Real(stream.uniform(i)) >= p;
  //- dx[i] = kept ? dy[i] / (1 - p) : 0;
  //+ dx[i] = Real(stream.uniform(i)) < p ? dy[i] / p : 0;
  //! mistake below_p: the elements that should be kept were dropped: those with u[i] >= p stay
  //- const bool kept = Real(stream.uniform(i)) >= p;
  //- y[i] = kept ? x.value()[i] / (1 - p) : 0;
  //+ y[i] = Real(stream.uniform(i)) < p ? x.value()[i] / (1 - p) : 0;
  //! mistake one_mask_for_all_tokens: every row has the same mask: i counts all elements, not those
  //!   of one row
  //- const bool kept = Real(stream.uniform(i)) >= p;
  //- y[i] = kept ? x.value()[i] / (1 - p) : 0;
  //+ y[i] = Real(stream.uniform(i % x.dim(-1))) >= p ? x.value()[i] / (1 - p) : 0;
  //! wrong own_random: with a mask that the stream did not draw
  // Rng random(17);
  // for (Index i = 0; i < y.size(); ++i) {
  //   y[i] = random.uniform() >= p ? x.value()[i] / (1 - p) : 0;
  // }
  // return record(op, y, {x}, [p](const Array& dy, Gradients& into) {
  //   Rng again(17);
  //   Array dx(dy.shape());
  //   for (Index i = 0; i < dx.size(); ++i) dx[i] = again.uniform() >= p ? dy[i] / (1 - p) : 0;
  //   into[0] += dx;
  // });
  //! wrong backward_draws_anew: another mask in the backward pass
  // for (Index i = 0; i < y.size(); ++i) {
  //   y[i] = Real(stream.uniform(i)) >= p ? x.value()[i] / (1 - p) : 0;
  // }
  // return record(op, y, {x}, [p](const Array& dy, Gradients& into) {
  //   Rng random(17);
  //   Array dx(dy.shape());
  //   for (Index i = 0; i < dx.size(); ++i) dx[i] = random.uniform() >= p ? dy[i] / (1 - p) : 0;
  //   into[0] += dx;
  // });
  //! mistake backward_passes_all: the mask is missing in the backward pass: an element that was
  //!   dropped cannot move the loss
  //- const bool kept = Real(stream.uniform(i)) >= p;
  //- dx[i] = kept ? dy[i] / (1 - p) : 0;
  //+ dx[i] = dy[i];
  //! mistake backward_only_scales: the mask is missing in the backward pass, only the scale is
  //!   there
  //- const bool kept = Real(stream.uniform(i)) >= p;
  //- dx[i] = kept ? dy[i] / (1 - p) : 0;
  //+ dx[i] = dy[i] / (1 - p);
  //! mistake backward_unscaled: the gradient was not scaled: dy/dx is 1 / (1 - p) where x was kept
  //- dx[i] = kept ? dy[i] / (1 - p) : 0;
  //+ dx[i] = kept ? dy[i] : 0;
  //! wrong zero_times_infinity: with p = 1
  //- const bool kept = Real(stream.uniform(i)) >= p;
  //- y[i] = kept ? x.value()[i] / (1 - p) : 0;
  //+ const Real kept = Real(stream.uniform(i)) >= p ? 1 : 0;
  //+ y[i] = x.value()[i] * kept / (1 - p);
  // ...
  //- const bool kept = Real(stream.uniform(i)) >= p;
  //- dx[i] = kept ? dy[i] / (1 - p) : 0;
  //+ const Real kept = Real(stream.uniform(i)) >= p ? 1 : 0;
  //+ dx[i] = dy[i] * kept / (1 - p);
  //! wrong overwrites: the gradient of x was replaced, not added to
  //- into[0] += dx;
  //+ into[0].sum() = dx;
  //! wrong not_recorded: the result is not recorded on the tape
  // for (Index i = 0; i < y.size(); ++i) {
  //   y[i] = Real(stream.uniform(i)) >= p ? x.value()[i] / (1 - p) : 0;
  // }
  // return Tensor(y);
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
