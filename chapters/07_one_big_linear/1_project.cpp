//! title: FusedHeads::project
//! replaces: headroom::FusedHeads::project
//! minutes: 20
//! difficulty: 2
//! path: short
//! needs: 06/2
//! hint: What is in the columns of linear(query, in_proj_weight, in_proj_bias), from left to
//!   right? Which of them are of no use when the keys come from another sequence?
//! hint: part(x, b, e) applies the rows [b * rows, e * rows) of in_proj_weight, and the same
//!   elements of the bias if there is one. In self-attention part(query, 0, 3) is
//!   [B, T, 3 * rows]: in which column do the keys begin?
//! hint: rows = live() * head_dim().
//!   Self-attention: {{qkv, 0}, {qkv, rows}, {qkv, 2 * rows}}.
//!   Cross-attention: part(query, 0, 1), part(key, 1, 2), part(value, 2, 3), each from column 0.
//! after: The columns of W_O are divided in the same way; exercise 07/3 moves them. The library's
//!   own function, in src/headroom/nn/fused_heads.cpp, computes keys and values of a memory in one
//!   product.
// Exercise 07/1, FusedHeads::project: one product for all heads.
#include "1_project.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Attention::Projections FusedHeads::project(const Tensor& query, const Tensor& key,
                                           const Tensor& value, Index /*first*/) const {
  //! solution
  const Index rows = live() * head_dim();
  //! skeleton
  // const Index rows = chapter::todo("rows: the number of rows of a third");
  //! wrong counts_removed_heads: removed heads were counted
  // const Index rows = config().heads * config().head_dim;
  //! end

  // The rows [begin, end) of the packed weight, in thirds, applied to x: part(x, 1, 3) are keys and
  // values.
  const auto part = [&](const Tensor& x, Index begin, Index end) -> Tensor {
    //! solution
    const Tensor weight = slice(in_proj_weight, 0, begin * rows, end * rows);
    const Tensor bias =
        in_proj_bias.defined() ? slice(in_proj_bias, 0, begin * rows, end * rows) : Tensor();
    return linear(x, weight, bias);
    //! skeleton
    // return chapter::todo("part: a slice of the weight, a slice of the bias, one linear", rows);
    //! wrong cuts_the_graph: in_proj_weight gets no gradient
    //- const Tensor weight = slice(in_proj_weight, 0, begin * rows, end * rows);
    //+ const Tensor weight(slice(in_proj_weight, 0, begin * rows, end * rows).value());
    //! wrong forgets_the_bias: the bias was left out
    // return linear(x, slice(in_proj_weight, 0, begin * rows, end * rows));
    //! end
  };

  if (in_proj_weight.defined() && query.same(key) &&
      key.same(value)) {  // self-attention: one product for everything
    //! solution
    const Tensor qkv = part(query, 0, 3);
    return {{qkv, 0}, {qkv, rows}, {qkv, 2 * rows}};
    //! skeleton
    // return chapter::todo("self-attention: one part, and the first column of each third");
    //! wrong keys_for_values: the columns of the keys were taken for the values
    // const Tensor qkv = part(query, 0, 3);
    // return {{qkv, 0}, {qkv, rows}, {qkv, rows}};
    //! wrong keys_last: keys and values were exchanged
    // const Tensor qkv = part(query, 0, 3);
    // return {{qkv, 0}, {qkv, 2 * rows}, {qkv, rows}};
    //! wrong all_from_column_0: keys and values begin in column 0
    // const Tensor qkv = part(query, 0, 3);
    // return {{qkv, 0}, {qkv, 0}, {qkv, 0}};
    //! wrong packed_per_head: the columns were read head by head
    // const Tensor qkv = part(query, 0, 3);
    // const Tensor by_head = reshape(qkv, {qkv.dim(0), qkv.dim(1), live(), 3, head_dim()});
    // const auto third = [&](Index i) -> HeadColumns {
    //   return {reshape(slice(by_head, 3, i, i + 1), {qkv.dim(0), qkv.dim(1), rows}), 0};
    // };
    // return {third(0), third(1), third(2)};
    //! wrong packed_per_feature: the columns were read in threes
    // const Tensor qkv = part(query, 0, 3);
    // const Tensor by_feature = reshape(qkv, {qkv.dim(0), qkv.dim(1), rows, 3});
    // const auto third = [&](Index i) -> HeadColumns {
    //   return {reshape(slice(by_feature, 3, i, i + 1), {qkv.dim(0), qkv.dim(1), rows}), 0};
    // };
    // return {third(0), third(1), third(2)};
    //! end
  }
  //! solution
  if (!in_proj_weight.defined()) {  // keys of another width, which the exercise leaves out
    const auto own = [&](const Tensor& x, const Tensor& weight, Index third) -> HeadColumns {
      if (!x.defined()) return {};
      if (!in_proj_bias.defined()) return {linear(x, weight, Tensor()), 0};
      return {linear(x, weight, slice(in_proj_bias, 0, third * rows, (third + 1) * rows)), 0};
    };
    return {own(query, q_proj_weight, 0), own(key, k_proj_weight, 1), own(value, v_proj_weight, 2)};
  }
  //! skeleton
  //! end
  const Tensor q = part(query, 0, 1);
  if (!key.defined()) return {{q, 0}, {}, {}};  // keys and values are in the cache
  //! solution
  return {{q, 0}, {part(key, 1, 2), 0}, {part(value, 2, 3), 0}};
  //! skeleton
  // return chapter::todo("cross-attention: three parts of three inputs");
  //! wrong ignores_the_memory: keys and values were computed from the query, not from the memory
  // return {{q, 0}, {part(query, 1, 2), 0}, {part(query, 2, 3), 0}};
  //! wrong values_for_keys: the rows of the values were taken for the keys
  // return {{q, 0}, {part(value, 2, 3), 0}, {part(value, 2, 3), 0}};
  //! wrong ignores_the_value: the values were computed from `key`; `value` was ignored
  // return {{q, 0}, {part(key, 1, 2), 0}, {part(key, 2, 3), 0}};
  //! wrong ignores_the_key: the keys were computed from `value`; `key` was ignored
  // return {{q, 0}, {part(value, 1, 2), 0}, {part(value, 2, 3), 0}};
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
