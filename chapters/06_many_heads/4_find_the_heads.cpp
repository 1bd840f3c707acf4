//! title: find the mistake: Linear(head_dim, head_dim)
//! minutes: 10
//! difficulty: 2
//! needs: 06/2
//! mistake: In multi-head attention it moves all 4
//! hint: How many numbers does head 2 read of a token? How many does it read in your 06/2?
//! hint: The token is cut into slices, and then projected. What if it is projected first? What
//!   shape must the matrices have for that?
//! hint: Three matrices [C, C]. linear(x, weight) is [B, T, C]; reshape it to [B, T, H, D], then
//!   exchange the axes 1 and 2.
//! after: The file as you found it is a layout of the library, SharedHead, so that it can be
//!   studied: headroom lab shared-head, or train with --layout shared.
// Exercise 06/4: this is not multi-head attention yet. Why?
#include "4_find_the_heads.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

// The queries', the keys' and the values' matrices.
std::vector<Tensor> tutorial_weights(Index width, Index heads, Rng& rng) {
  std::vector<Tensor> weights;
  //! solution
  for (int i = 0; i < 3; ++i) {
    weights.push_back(parameter(xavier_uniform({width, width}, width, width, rng)));
  }
  //! skeleton
  // const Shape shape{width / heads, width / heads};
  // for (int i = 0; i < 3; ++i) {
  //   weights.push_back(parameter(xavier_uniform(shape, shape[1], shape[0], rng)));
  // }
  //! wrong per_head_but_sliced: moving slice 0 of every token moves head 0 and no other
  // const Index head_dim = width / heads;
  // for (Index i = 0; i < 3 * heads; ++i) {
  //   weights.push_back(
  //       parameter(xavier_uniform({head_dim, head_dim}, head_dim, head_dim, rng)));
  // }
  //! wrong only_queries: the matrices have 162 elements
  // const Index head_dim = width / heads;
  // weights.push_back(parameter(xavier_uniform({width, width}, width, width, rng)));
  // for (int i = 0; i < 2; ++i) {
  //   weights.push_back(
  //       parameter(xavier_uniform({head_dim, head_dim}, head_dim, head_dim, rng)));
  // }
  //! wrong mixes_first: the matrices have 171 elements
  // const Index head_dim = width / heads;
  // for (int i = 0; i < 3; ++i) {
  //   weights.push_back(
  //       parameter(xavier_uniform({head_dim, head_dim}, head_dim, head_dim, rng)));
  // }
  // weights.push_back(parameter(xavier_uniform({width, width}, width, width, rng)));
  //! wrong one_head_for_all: the matrices have 108 elements
  // for (int i = 0; i < 3; ++i) {
  //   weights.push_back(parameter(xavier_uniform({width / heads, width}, width, width, rng)));
  // }
  //! wrong same_start: the heads 0 and 1 begin with equal matrices
  //- weights.push_back(parameter(xavier_uniform({width, width}, width, width, rng)));
  //+ const Tensor block(xavier_uniform({width / heads, width}, width, width, rng));
  //+ const std::vector<Tensor> all(std::size_t(heads), block);
  //+ weights.push_back(parameter(concat(all, 0).value()));
  //! end
  return weights;
}

Tensor tutorial_heads(const Tensor& x, const std::vector<Tensor>& weights, Index heads) {
  const Index batch = x.dim(0), tokens = x.dim(1), head_dim = x.dim(2) / heads;

  // Projection number i (queries, keys, values) of every head, [B, H, T, D].
  const auto project = [&](std::size_t i) {
    //! solution
    const Tensor projected = linear(x, weights[i]);
    return transpose(reshape(projected, {batch, tokens, heads, head_dim}), 1, 2);
    //! skeleton
    // const Tensor slices = reshape(x, {batch, tokens, heads, head_dim});
    // return transpose(linear(slices, weights[i]), 1, 2);
    //! wrong per_head_but_sliced: moving slice 0 of every token moves head 0 and no other
    // std::vector<Tensor> parts;
    // for (Index h = 0; h < heads; ++h) {
    //   const Tensor part = slice(x, 2, h * head_dim, (h + 1) * head_dim);
    //   parts.push_back(linear(part, weights[i * std::size_t(heads) + std::size_t(h)]));
    // }
    // return stack(parts, 1);
    //! wrong only_queries: the matrices have 162 elements
    // const bool query = i == 0;
    // const Tensor y = query ? linear(x, weights[i]) : x;
    // const Tensor slices = reshape(y, {batch, tokens, heads, head_dim});
    // return transpose(query ? slices : linear(slices, weights[i]), 1, 2);
    //! wrong mixes_first: the matrices have 171 elements
    // const Tensor slices = reshape(linear(x, weights[3]), {batch, tokens, heads, head_dim});
    // return transpose(linear(slices, weights[i]), 1, 2);
    //! wrong one_head_for_all: the matrices have 108 elements
    // return stack(std::vector<Tensor>(std::size_t(heads), linear(x, weights[i])), 1);
    //! wrong reshape_alone: tokens of different positions were mixed
    // return reshape(linear(x, weights[i]), {batch, heads, tokens, head_dim});
    //! wrong cuts_the_graph: gets no gradient
    // const Tensor projected = linear(x, weights[i].detach());
    // return transpose(reshape(projected, {batch, tokens, heads, head_dim}), 1, 2);
    //! end
  };

  const Tensor query = project(0), key = project(1), value = project(2);
  const Tensor scores = matmul(query, transpose(key)) * attention_scale(head_dim);
  return matmul(softmax(scores), value);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
