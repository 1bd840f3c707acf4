// Exercise 07/1: write FusedHeads::project, the function that makes the fused layout fused.
//
//   Projections FusedHeads::project(const Tensor& query, const Tensor& key, const Tensor& value,
//                                   Index first) const
//
// It computes the queries, keys and values of all heads from three inputs, and returns in which
// columns of which tensors [B, T, *] they begin. You have:
//
//   live(), head_dim()            the number of heads that are left, and D; rows = live() * D
//   in_proj_weight [3 * rows, C]  thirds: queries, keys, values. Live head number i owns the rows
//   in_proj_bias   [3 * rows]     [i D, (i + 1) D) of each third. Without bias it is undefined
//   slice(x, axis, begin, end)    linear(x, weight, bias) = x W^T + b
//
// HeadColumns {source, first}: the heads are side by side in the columns of `source`, from column
// `first` on.
#pragma once

#include "common/answer.hpp"
