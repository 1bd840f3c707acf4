// Exercise 06/2: write SeparateHeads::project, the projections as the paper draws them.
//
//   Projections SeparateHeads::project(const Tensor& from, const Tensor& keys,
//                                      const Tensor& values, Index first) const
//
// Every head has three Linears of its own. Each of them reads whole tokens, [B, T, C], and gives
// [B, T, D]. Return the queries (from `from`), keys and values of all heads, each as one tensor
// [B, T, heads * D] with the heads side by side. You have:
//
//   query, key, value            the Linears of the heads that are left: query[i] points to the
//                                Linear of live head number i (its position, not its original
//                                number), and (*query[i])(x) applies it
//   concat(parts, axis)          a std::vector of tensors, one after the other along an axis
//   HeadColumns {source, first}  the heads are in the columns of `source` from column `first` on
//
// Mind the names: `key` and `value` are Linears, `keys` and `values` are the tensors they read.
// In decoding, keys.defined() is false once the cache holds keys and values: then only the queries
// are projected. The line that does so is already in the file.
#pragma once

#include "common/answer.hpp"
