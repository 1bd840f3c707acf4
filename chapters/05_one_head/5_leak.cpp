//! title: find the mistake: the future in a number
//! minutes: 15
//! difficulty: 2
//! needs: 05/2
//! mistake: changing the last token moved output
//! hint: The map is right: nothing comes through the weights of later tokens. Which other numbers
//!   does output 2 depend on, and which tokens are they made of?
//! hint: A mean over a row is made of all its elements. Which elements of row 2 belong to tokens
//!   that query 2 may see?
//! hint: Two means run over whole rows, and both are needed for the deviation. Measure them over
//!   the allowed elements: mean_over(..., allowed) is there, and is not called.
//! after: Any statistic over the time axis can leak, be it a deviation, a maximum or a norm. A map
//!   cannot show it, and detach() hides it from the gradient. Only a changed token finds it.
// Exercise 05/5: an attention that measures the deviation of its scores.
#include "5_leak.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor mean_over(const Tensor& x, const Bytes& allowed) {
  Array count = zeros({allowed.dim(0), 1});
  for (Index i = 0; i < allowed.size(); ++i) count[i / allowed.dim(1)] += allowed[i];
  return sum(where(allowed, x, Tensor(Real(0))), {-1}, true) / constant(count);
}

Seen attend(const MeasuredAttention& layer, const Tensor& x) {
  const Tensor q = linear(x, layer.query, {});
  const Tensor k = linear(x, layer.key, {});
  const Tensor v = linear(x, layer.value, {});
  const Index tokens = x.dim(1);
  Bytes allowed({tokens, tokens});
  for (Index i = 0; i < allowed.size(); ++i) allowed[i] = i % tokens <= i / tokens ? 1 : 0;

  const Tensor scores = matmul(q, transpose(k));  // [B, T, T]
  //! solution
  const Tensor centred = scores - mean_over(scores, allowed);
  const Tensor variance = mean_over(centred * centred, allowed);
  //! skeleton
  // const Tensor centred = scores - mean(scores, {-1}, true);
  // const Tensor variance = mean(centred * centred, {-1}, true);
  //! wrong only_the_mean: changing the last token moved output
  // const Tensor centred = scores - mean_over(scores, allowed);
  // const Tensor variance = mean(centred * centred, {-1}, true);
  //! wrong only_the_variance: changing the last token moved output
  // const Tensor centred = scores - mean(scores, {-1}, true);
  // const Tensor variance = mean_over(centred * centred, allowed);
  //! wrong detached: hides a leak from the backward pass
  // const Tensor centred = scores - mean(scores, {-1}, true);
  // const Tensor variance = mean(centred * centred, {-1}, true).detach();
  //! mistake constant_deviation: the deviation was taken as a constant: it is made of the scores,
  //!   and its gradient belongs to theirs
  // const Tensor centred = scores - mean_over(scores, allowed);
  // const Tensor variance = mean_over(centred * centred, allowed).detach();
  //! mistake both_constant: the deviation was taken as a constant: it is made of the scores, and
  //!   its gradient belongs to theirs
  // const Tensor centred = scores - mean_over(scores, allowed).detach();
  // const Tensor variance = constant(mean_over(centred * centred, allowed).value());
  //! wrong not_measured: the scores are not divided by their deviation
  // const Tensor centred = scores * attention_scale(x.dim(2));
  // const Tensor variance = constant(ones({tokens, 1}));
  //! wrong zeros_counted: knows how many tokens follow
  // const Tensor seen = where(allowed, scores, Tensor(Real(0)));
  // const Tensor centred = seen - mean(seen, {-1}, true);
  // const Tensor variance = mean(centred * centred, {-1}, true);
  //! wrong over_the_batch: the examples of a batch are mixed
  // const Tensor centred = scores - mean(mean_over(scores, allowed), {0}, true);
  // const Tensor variance = mean(mean_over(centred * centred, allowed), {0}, true);
  //! end
  const Tensor map = masked_softmax(centred / sqrt(variance + Real(1e-6)), allowed);
  return {matmul(map, v), map};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
