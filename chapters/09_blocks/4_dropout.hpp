// Exercise 09/4: write dropout with its gradient.
//
//   Tensor dropout(const Tensor& x, Real p, const MaskStream& stream)
//
// Each element is set to 0 with probability p, and divided by 1 - p otherwise:
//   y[i] = x[i] / (1 - p)  if u[i] >= p,   otherwise 0         u[i] random, in [0, 1)
// The backward pass uses the same u[i]. With p = 1 all elements are 0. You have:
//
//   stream.uniform(i)        u[i], a float; Real(stream.uniform(i)) compares with p. The stream
//                            gives the same number for the same i whenever it is asked, so nothing
//                            has to be stored, and a run can be repeated
//   x.value()[i]             the elements of x
//   record(op, y, {x}, backward)     as in exercise 03/1: dy is the gradient that arrives, and
//                                    into[0] += dx adds to the gradient of x
#pragma once

#include <fmt/format.h>

#include "common/answer.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/op_scope.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/ops/dropout.hpp"
