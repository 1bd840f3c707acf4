//! title: apply_gates
//! replaces: headroom::apply_gates
//! minutes: 15
//! difficulty: 1
//! path: short
//! needs: 07/1
//! hint: The gates count original heads, the columns of y count live ones. Which gates do you need
//!   after head 1 of 4 was removed, in which order? On which axis are heads, if gates has two axes?
//! hint: Gather the gates of the live heads. Then give them the axes of y, read as [B, Tq, L, D]:
//!   batch, query, head, and 1 for the features of a head. [B, L, Tq] has query and head in the
//!   other order.
//! hint: live = gather(gates, gates.rank() == 1 ? 0 : 1, numbers). The factor is reshape(live,
//!   {1, 1, L, 1}), reshape(live, {B, 1, L, 1}), or reshape(permute(live, {0, 2, 1}),
//!   {B, Tq, L, 1}). The result is reshape(reshape(y, {B, Tq, L, L D / L}) * factor, y.shape()).
//! after: A gate is not a weight: it is 1 in a trained model, and only its gradient is read.
//!   [B, H] gives every example a gate of its own, so one backward pass has the gradients of all.
// Exercise 11/1, apply_gates: a factor for each head.
#include "1_apply_gates.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

void check(const Tensor& y, const Tensor& gates, std::span<const Index> alive, Index heads) {
  if (y.rank() != 3 || alive.empty() || y.dim(2) % Index(alive.size()) != 0) {
    throw ShapeError("attention: y " + y.shape().text() + " must be [B, Tq, L D] with L = " +
                     std::to_string(alive.size()) + " live heads");
  }
  const Index batch = y.dim(0), queries = y.dim(1);
  if (gates.shape() == Shape{heads} || gates.shape() == Shape{batch, heads}) return;
  if (gates.shape() == Shape{batch, heads, queries}) return;
  throw ShapeError("attention: gates " + gates.shape().text() +
                   " must be [H], [B, H] or [B, H, Tq] with B = " + std::to_string(batch) +
                   ", H = " + std::to_string(heads) + ", Tq = " + std::to_string(queries));
}

}  // namespace

Tensor apply_gates(const Tensor& y, const Tensor& gates, std::span<const Index> alive,
                   Index heads) {
  check(y, gates, alive, heads);
  const Index batch = y.dim(0), queries = y.dim(1), count = Index(alive.size());
  Ids numbers(Shape{count});
  for (Index l = 0; l < count; ++l) {
    numbers[l] = static_cast<std::int32_t>(alive[static_cast<std::size_t>(l)]);
  }
  // The gates of the live heads: [L], [B, L] or [B, L, Tq].
  //! solution
  const Tensor live = gather(gates, gates.rank() == 1 ? 0 : 1, numbers);
  //! skeleton
  // const Tensor live = chapter::todo("live: the gates of the live heads");
  //! mistake by_position: the gates were taken by position: after head 1 was removed, gate 1 is
  //!   nobody's, and the gate of alive[l] belongs to live head number l
  // const Tensor live = slice(gates, gates.rank() == 1 ? 0 : 1, 0, count);
  //! wrong no_gradient: no gradient arrived at gates
  // const Tensor live =
  //     gather(Tensor(gates.value().clone()), gates.rank() == 1 ? 0 : 1, numbers);
  //! mistake one_example: the gates of example 0 were used for every example
  // const Tensor all = gates.rank() == 1 ? gates : slice(gates, 0, 0, 1) + gates * Real(0);
  // const Tensor live = gather(all, gates.rank() == 1 ? 0 : 1, numbers);
  //! end

  // The same numbers with the axes of [B, Tq, L, D], of size 1 where a gate is for all.
  //! solution
  const Tensor factor =
      live.rank() == 1   ? reshape(live, {1, 1, count, 1})
      : live.rank() == 2 ? reshape(live, {batch, 1, count, 1})
                         : reshape(permute(live, {0, 2, 1}), {batch, queries, count, 1});
  //! skeleton
  // const Tensor factor = chapter::todo("factor: the gates with the axes of [B, Tq, L, D]", live,
  //                                     batch, queries);
  //! mistake not_permuted: the gates [B, H, Tq] were reshaped to [B, Tq, H] where they must be
  //!   permuted: gates of other heads and queries came together
  // const Tensor factor = live.rank() == 1   ? reshape(live, {1, 1, count, 1})
  //                       : live.rank() == 2 ? reshape(live, {batch, 1, count, 1})
  //                                          : reshape(live, {batch, queries, count, 1});
  //! end

  //! solution
  return reshape(reshape(y, {batch, queries, count, y.dim(2) / count}) * factor, y.shape());
  //! skeleton
  // return chapter::todo("the product of y and factor, in the shape of y");
  //! mistake interleaved: neighbouring columns were given to different heads: a head's columns are
  //!   next to each other
  // const Tensor wide = reshape(y, {batch, queries, y.dim(2) / count, count});
  // return reshape(wide * permute(factor, {0, 1, 3, 2}), y.shape());
  //! mistake adds: the gates were added to y: a gate is a factor
  // return reshape(reshape(y, {batch, queries, count, y.dim(2) / count}) + factor, y.shape());
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
