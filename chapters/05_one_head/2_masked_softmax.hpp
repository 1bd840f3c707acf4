// Exercise 05/2: write the softmax of what a mask allows, with its gradient.
//
//   Tensor masked_softmax(const Tensor& x, const Bytes& allowed)
//
// Each row of the last axis is on its own. Over its allowed elements:
//   y[i] = e^(x[i] - largest) / sum of e^(x[j] - largest)      largest: of the allowed x[j]
//   dx[i] = y[i] * (dy[i] - mean)                              mean = sum of y[j] * dy[j]
// Elements that are not allowed are never read: they may be 1000 or NaN. Their y is 0, and a row
// with nothing allowed is 0, and so is its gradient.
//
// There are two gaps. In the first one, element i is x.value()[i], and mask[i] is 1 if it is
// allowed, else 0. In the second one, y and dy are there. In both, a row has the elements [row, row
// + columns) of its array, and what you do not write stays 0.
#pragma once

#include "given.hpp"
