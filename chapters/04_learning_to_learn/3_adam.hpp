// Exercise 04/3: write the step of Adam.
//
//   void Adam::update_run(const Run& run, Real* parameter, const Real* gradient, Real* first,
//                         Real* second, double rate, double weight_decay) const
//
// It updates run.size elements. `first` and `second` are the optimizer's memory of them: they begin
// at 0 and keep what you write. This is step t = run.step, counted from 1. For each element:
//
//   m = beta1 m + (1 - beta1) g          the mean of the gradients, in first[i]
//   v = beta2 v + (1 - beta2) g^2        the mean of their squares, in second[i]
//   p = p - rate m' / (sqrt(v') + epsilon)
//
// Both means begin at 0, so they are too small at first: by the factor 1 - beta^t after t steps.
// m' = m / (1 - beta1^t) and v' = v / (1 - beta2^t) correct that. Weight decay is there already: it
// is added to g (Adam), or shrinks p before the step (AdamW).
//
// You have: beta1_, beta2_, epsilon_, which are double, as is `rate`; Real(number) converts;
// std::sqrt, std::pow.
#pragma once

#include "common/answer.hpp"
#include "headroom/optim/adam.hpp"
