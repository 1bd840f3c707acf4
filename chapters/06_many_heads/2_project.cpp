//! title: SeparateHeads::project
//! replaces: headroom::SeparateHeads::project
//! minutes: 20
//! difficulty: 2
//! path: short
//! needs: 06/1
//! hint: What is the shape of (*query[0])(from)? How many of these are there, and along which axis
//!   do they become [B, T, heads * D]?
//! hint: each(heads, x): apply every Linear of `heads` to x, collect the results in a std::vector,
//!   concat them along axis 2. Then three calls, each with its own input.
//! hint: for (const auto& head : heads) parts.push_back((*head)(x)); return concat(parts, 2);
//!   and {{each(query, from), 0}, {each(key, keys), 0}, {each(value, values), 0}}.
//! after: The library's own, in src/headroom/nn/separate_heads.cpp, lets every Linear write into
//!   its columns of one result, which saves the copy that concat makes.
// Exercise 06/2, SeparateHeads::project: three Linears for every head.
#include "2_project.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Attention::Projections SeparateHeads::project(const Tensor& from, const Tensor& keys,
                                              const Tensor& values, Index /*first*/) const {
  using Linears = std::vector<std::unique_ptr<Linear>>;

  // The outputs of all Linears side by side, [B, T, heads * D].
  const auto each = [&](const Linears& heads, const Tensor& x) -> Tensor {
    //! solution
    std::vector<Tensor> parts;
    for (const auto& head : heads) parts.push_back((*head)(x));
    return concat(parts, 2);
    //! skeleton
    // return chapter::todo("each: every Linear on x, the results side by side");
    //! mistake first_head_for_all: every head is head 0: the first Linear was applied for all of
    //!   them
    //- for (const auto& head : heads) parts.push_back((*head)(x));
    //+ for (std::size_t i = 0; i < heads.size(); ++i) parts.push_back((*heads[0])(x));
    //! mistake slices_the_input: every head read only its own slice of the token; it must read all
    //!   of it
    //- for (const auto& head : heads) parts.push_back((*head)(x));
    //+ for (Index i = 0; i < Index(heads.size()); ++i) {
    //+   const Index begin = i * head_dim(), end = begin + head_dim();
    //+   const Linear& head = *heads[std::size_t(i)];
    //+   parts.push_back(
    //+       linear(slice(x, 2, begin, end), slice(head.weight, 1, begin, end), head.bias));
    //+ }
    //! wrong feeds_a_slice: ends in 3 features but weight [3, 12] takes 12
    //- for (const auto& head : heads) parts.push_back((*head)(x));
    //+ for (Index i = 0; i < Index(heads.size()); ++i) {
    //+   const Tensor part = slice(x, 2, i * head_dim(), (i + 1) * head_dim());
    //+   parts.push_back((*heads[std::size_t(i)])(part));
    //+ }
    //! mistake interleaved: the heads are interleaved: head h must have columns next to each other,
    //!   not every H-th one
    //- return concat(parts, 2);
    //+ const Tensor by_feature = stack(parts, 3);  // [B, T, D, heads]
    //+ return reshape(by_feature, {x.dim(0), x.dim(1), -1});
    //! mistake no_biases: the biases were left out
    //- for (const auto& head : heads) parts.push_back((*head)(x));
    //+ for (const auto& head : heads) parts.push_back(linear(x, head->weight));
    //! wrong cuts_the_graph: query.0.weight gets no gradient
    //- for (const auto& head : heads) parts.push_back((*head)(x));
    //+ for (const auto& head : heads) {
    //+   parts.push_back(linear(x, head->weight.detach(), head->bias));
    //+ }
    //! wrong counts_removed_heads: wrong after head 1 was removed
    //- for (const auto& head : heads) parts.push_back((*head)(x));
    //+ for (Index i = 0; i < config().heads; ++i) {
    //+   parts.push_back((*heads.at(std::size_t(i)))(x));
    //+ }
    //! end
  };

  //! solution
  if (!keys.defined()) return {{each(query, from), 0}, {}, {}};
  return {{each(query, from), 0}, {each(key, keys), 0}, {each(value, values), 0}};
  //! skeleton
  // if (!keys.defined()) return {{each(query, from), 0}, {}, {}};
  // return chapter::todo("queries, keys and values, each of its input");
  //! mistake memory_ignored: keys and values were computed from the query, not from the memory
  //- return {{each(query, from), 0}, {each(key, keys), 0}, {each(value, values), 0}};
  //+ return {{each(query, from), 0}, {each(key, from), 0}, {each(value, from), 0}};
  //! mistake keys_for_values: the Linears of the keys were applied for the values
  //- return {{each(query, from), 0}, {each(key, keys), 0}, {each(value, values), 0}};
  //+ return {{each(query, from), 0}, {each(key, keys), 0}, {each(key, values), 0}};
  //! mistake values_for_keys: the Linears of the values were applied for the keys
  //- return {{each(query, from), 0}, {each(key, keys), 0}, {each(value, values), 0}};
  //+ return {{each(query, from), 0}, {each(value, keys), 0}, {each(value, values), 0}};
  //! mistake queries_for_keys: the Linears of the queries were applied for the keys
  //- return {{each(query, from), 0}, {each(key, keys), 0}, {each(value, values), 0}};
  //+ return {{each(query, from), 0}, {each(query, keys), 0}, {each(value, values), 0}};
  //! mistake values_of_the_keys: the values were computed from `keys`; `values` was ignored
  //- return {{each(query, from), 0}, {each(key, keys), 0}, {each(value, values), 0}};
  //+ return {{each(query, from), 0}, {each(key, keys), 0}, {each(value, keys), 0}};
  //! mistake keys_of_the_values: the keys were computed from `values`; `keys` was ignored
  //- return {{each(query, from), 0}, {each(key, keys), 0}, {each(value, values), 0}};
  //+ return {{each(query, from), 0}, {each(key, values), 0}, {each(value, values), 0}};
  //! mistake inputs_exchanged: the keys were computed from `values` and the values from `keys`
  //- return {{each(query, from), 0}, {each(key, keys), 0}, {each(value, values), 0}};
  //+ return {{each(query, from), 0}, {each(key, values), 0}, {each(value, keys), 0}};
  //! wrong forgets_the_cache: keys and values are in the cache
  //- if (!keys.defined()) return {{each(query, from), 0}, {}, {}};
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
