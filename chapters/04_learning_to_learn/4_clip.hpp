// Exercise 04/4: write clip_grad_norm, which shortens a gradient that is too long.
//
//   double clip_grad_norm(Module& module, double limit)
//
// The gradients of all parameters together are one vector. Its norm is the root of the sum of the
// squares of all elements, computed in double. If it is above the limit, multiply every element by
// limit / (norm + 1e-6), a factor below 1. Return the norm that the gradient had before. When it is
// infinite or NaN, change nothing: no factor repairs such a gradient, and the caller can see it in
// the norm. You have:
//
//   for (NamedParameter& p : parameters(module))    p.name, p.tensor
//   p.tensor.grad()             the gradient; undefined (a.defined() is false) for a parameter that
//                               took no part. Somebody else may hold the same array
//   a.clone(), a.span()         a copy of an array; its elements, to loop over
//   p.tensor.set_grad(array)    replaces the gradient
//   std::sqrt, std::isfinite
#pragma once

#include <fmt/format.h>

#include "common/answer.hpp"
#include "headroom/base/error.hpp"
#include "headroom/optim/clipping.hpp"
