// Exercise 04/2: write cross_entropy, the loss of a model that chooses among classes.
//
//   Tensor cross_entropy(const Tensor& logits, const Ids& targets, const CrossEntropyOptions&)
//
// logits [..., V] are the scores x of V classes, targets [...] the class that was right. For a row:
//
//   lse = log sum_c e^x_c             so log softmax(x)_c = x_c - lse
//   loss = sum_c q_c (lse - x_c)      q_c is 1 for the target and 0 for the others
//   dx_c = dloss (p_c - q_c)          p = softmax(x)
//
// You have, besides std::exp, std::log and the operations of 04/1:
//
//   q(row, c)        the wanted share of class c (with label smoothing, a little for every class)
//   ignored(row)     true for padding, whose target is options.ignore_index: loss 0, gradient 0
//   counted          the number of other rows; Reduction::mean divides by it (the mean of none is
//                    0), Reduction::sum does not, Reduction::none returns one loss for each row
//
// Losses must be finite for logits of every size and at every distance from each other.
#pragma once

#include <fmt/format.h>

#include "common/answer.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/op_scope.hpp"
