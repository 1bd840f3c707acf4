// Exercise 03/1: write an operation of the library with its gradient.
//
//   Tensor sigmoid(const Tensor& x)      s = 1 / (1 + e^-x) for each element of x
//
// The derivative, written with the operation's own value: ds/dx = s (1 - s). You have:
//
//   Array y(x.shape())                   elements y[i], i from 0 to y.size() - 1
//   x.value()                            the elements of x
//   record(op, y, {x}, backward)         y as a Tensor on the tape. op has the operation's name.
//                                        backward gets dy = dL/dy and `into`, the gradients of
//                                        the inputs
//   into[0] += dx                        adds the array dx to the gradient of input 0
#pragma once

#include "common/answer.hpp"
#include "headroom/base/op_scope.hpp"
