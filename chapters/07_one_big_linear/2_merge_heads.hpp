// Exercise 07/2: write the way back from one matrix per head to one row per token.
//
//   Tensor composed::merge_heads(const Tensor& heads)     [B, H, T, D] -> [B, T, H D]
//
// Feature d of head h becomes channel h D + d of its token. You have:
//
//   heads.dim(axis)              the sizes: B, H, T, D are the axes 0 to 3
//   permute(x, {a, b, c, d})     moves the elements: axis i of the result is the axis of x that the
//                                list names at i
//   reshape(x, {sizes})          moves nothing: the same elements, in the same order in memory,
//                                counted in another way
//
// Both are on the tape, so the gradient needs no line of yours.
#pragma once

#include "common/answer.hpp"
