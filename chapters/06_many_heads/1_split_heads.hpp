// Exercise 06/1: give every head a matrix of its own.
//
//   Tensor composed::split_heads(const HeadColumns& columns, Index heads, Index width)
//
// columns.source is [B, T, *]. From column columns.first on, the heads are side by side: head h has
// the columns first + h * width up to first + (h + 1) * width. Return [B, heads, T, width].
// You have:
//
//   x.dim(axis)                    a size: B is x.dim(0), T is x.dim(1)
//   slice(x, axis, begin, end)     the elements [begin, end) of one axis
//   reshape(x, {sizes})            moves nothing: the same elements, in the same order in memory,
//                                  counted in another way
//   permute(x, {a, b, c, d})       moves the elements: axis i of the result is the axis of x that
//                                  the list names at i
//
// All of them are on the tape, so the gradient needs no line of yours.
#pragma once

#include "common/answer.hpp"
