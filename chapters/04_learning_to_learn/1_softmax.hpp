// Exercise 04/1: write softmax, which turns the numbers of a row into shares that add up to 1.
//
//   Tensor softmax(const Tensor& x)      y_i = e^x_i / sum_j e^x_j, over the last axis of x
//
// The derivative, written with the operation's own values, for each row:
//
//   dx_i = y_i (dy_i - sum_j y_j dy_j)
//
// You have:
//
//   x.value()[i], x.shape()              the elements in memory order: rows of the last axis are
//                                        contiguous, row r begins at r * columns
//   record(op, y, {x}, backward)         y as a Tensor on the tape; the closure gets dy and `into`
//   into[0] += dx                        adds the array dx to the gradient of x
//   std::exp, std::max
//
// Results must be finite for inputs of every size: 1000 and -1000 are ordinary inputs here.
#pragma once

#include "common/answer.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/op_scope.hpp"
