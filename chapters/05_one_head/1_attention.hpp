// Exercise 05/1: write attention with other operations.
//
//   composed::Attention composed::attention(query, key, value, heads, head_dim, value_dim, options)
//
// Three lines of formula, for all heads at once (one head is H = 1). You have:
//
//   q [B, H, Tq, D], k [B, H, Tk, D], v [B, H, Tk, Dv]    queries, keys and values as matrices
//   sizes.scale                  what the scores are multiplied by: 1/sqrt(D) unless the caller
//                                has chosen another one
//   matmul(a, b)                 the products of the last two axes; the axes before are batches
//   transpose(x)                 exchanges the last two axes
//   x * number                   every element times a number
//   masked_softmax(x, allowed)   softmax of each row, over the allowed keys only: exercise 05/2
//
// Scores and maps are [B, H, Tq, Tk]: one row for each query. The lines in between add what the
// options ask for, mostly nothing, and make `biased` of scores and `dropped` of maps: go on with
// these. All operations are on the tape, so you write no gradient.
#pragma once

#include "given.hpp"
