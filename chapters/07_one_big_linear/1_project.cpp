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
    //! mistake forgets_the_bias: the bias was left out
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
    //! mistake keys_for_values: the columns of the keys were taken for the values
    //- return {{qkv, 0}, {qkv, rows}, {qkv, 2 * rows}};
    //+ return {{qkv, 0}, {qkv, rows}, {qkv, rows}};
    //! mistake columns_of_values_for_keys: the columns of the values were taken for the keys
    //- return {{qkv, 0}, {qkv, rows}, {qkv, 2 * rows}};
    //+ return {{qkv, 0}, {qkv, 2 * rows}, {qkv, 2 * rows}};
    //! mistake columns_of_queries_for_keys: the columns of the queries were taken for the keys
    //- return {{qkv, 0}, {qkv, rows}, {qkv, 2 * rows}};
    //+ return {{qkv, 0}, {qkv, 0}, {qkv, 2 * rows}};
    //! mistake keys_first: queries and keys were exchanged
    //- return {{qkv, 0}, {qkv, rows}, {qkv, 2 * rows}};
    //+ return {{qkv, rows}, {qkv, 0}, {qkv, 2 * rows}};
    // ...
    //- return {{q, 0}, {part(key, 1, 2), 0}, {part(value, 2, 3), 0}};
    //+ return {{part(query, 1, 2), 0}, {part(key, 0, 1), 0}, {part(value, 2, 3), 0}};
    //! mistake keys_last: keys and values were exchanged
    //- return {{qkv, 0}, {qkv, rows}, {qkv, 2 * rows}};
    //+ return {{qkv, 0}, {qkv, 2 * rows}, {qkv, rows}};
    // ...
    //- return {{q, 0}, {part(key, 1, 2), 0}, {part(value, 2, 3), 0}};
    //+ return {{q, 0}, {part(key, 2, 3), 0}, {part(value, 1, 2), 0}};
    //! mistake all_from_column_0: the columns of the queries were taken for all three: keys and
    //!   values begin in column 0
    //- return {{qkv, 0}, {qkv, rows}, {qkv, 2 * rows}};
    //+ return {{qkv, 0}, {qkv, 0}, {qkv, 0}};
    //! mistake packed_per_head: the columns were read head by head, q0 k0 v0 q1 k1 v1 ... Here all
    //!   queries come first, then all keys, then all values
    //- return {{qkv, 0}, {qkv, rows}, {qkv, 2 * rows}};
    //+ const auto third = [&](Index i) -> HeadColumns {
    //+   const Tensor all = reshape(qkv, {qkv.dim(0), qkv.dim(1), live(), 3, head_dim()});
    //+   return {reshape(slice(all, 3, i, i + 1), {qkv.dim(0), qkv.dim(1), rows}), 0};
    //+ };
    //+ return {third(0), third(1), third(2)};
    // ...
    //- return {{q, 0}, {part(key, 1, 2), 0}, {part(value, 2, 3), 0}};
    //+ const auto third = [&](const Tensor& x, Index i) -> HeadColumns {
    //+   const Tensor all = reshape(part(x, 0, 3), {x.dim(0), x.dim(1), live(), 3, head_dim()});
    //+   return {reshape(slice(all, 3, i, i + 1), {x.dim(0), x.dim(1), rows}), 0};
    //+ };
    //+ return {third(query, 0), third(key, 1), third(value, 2)};
    //! mistake packed_per_feature: the columns were read in threes, a query, a key and a value for
    //!   every feature. Here all queries come first, then all keys, then all values
    //- return {{qkv, 0}, {qkv, rows}, {qkv, 2 * rows}};
    //+ const auto third = [&](Index i) -> HeadColumns {
    //+   const Tensor all = reshape(qkv, {qkv.dim(0), qkv.dim(1), rows, 3});
    //+   return {reshape(slice(all, 3, i, i + 1), {qkv.dim(0), qkv.dim(1), rows}), 0};
    //+ };
    //+ return {third(0), third(1), third(2)};
    // ...
    //- return {{q, 0}, {part(key, 1, 2), 0}, {part(value, 2, 3), 0}};
    //+ const auto third = [&](const Tensor& x, Index i) -> HeadColumns {
    //+   const Tensor all = reshape(part(x, 0, 3), {x.dim(0), x.dim(1), rows, 3});
    //+   return {reshape(slice(all, 3, i, i + 1), {x.dim(0), x.dim(1), rows}), 0};
    //+ };
    //+ return {third(query, 0), third(key, 1), third(value, 2)};
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
  //! mistake ignores_the_memory: keys and values were computed from the query, not from the memory
  // return {{q, 0}, {part(query, 1, 2), 0}, {part(query, 2, 3), 0}};
  //! mistake rows_of_keys_for_values: the rows of the keys were taken for the values
  // return {{q, 0}, {part(key, 1, 2), 0}, {part(value, 1, 2), 0}};
  //! mistake values_for_keys: the rows of the values were taken for the keys
  // return {{q, 0}, {part(key, 2, 3), 0}, {part(value, 2, 3), 0}};
  //! mistake rows_of_queries_for_keys: the rows of the queries were taken for the keys
  // return {{q, 0}, {part(key, 0, 1), 0}, {part(value, 2, 3), 0}};
  //! mistake rows_of_queries_for_all: the rows of the queries were taken for all three: keys and
  //!   values begin in column 0
  // return {{q, 0}, {part(key, 0, 1), 0}, {part(value, 0, 1), 0}};
  //! mistake ignores_the_value: the values were computed from `key`; `value` was ignored
  // return {{q, 0}, {part(key, 1, 2), 0}, {part(key, 2, 3), 0}};
  //! mistake ignores_the_key: the keys were computed from `value`; `key` was ignored
  // return {{q, 0}, {part(value, 1, 2), 0}, {part(value, 2, 3), 0}};
  //! mistake inputs_exchanged: the keys were computed from `value` and the values from `key`
  // return {{q, 0}, {part(value, 1, 2), 0}, {part(key, 2, 3), 0}};
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
