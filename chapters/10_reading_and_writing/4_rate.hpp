// Exercise 10/4: write RateSchedule::operator(), the learning rate of step 0, 1, 2, ...
//
//   double RateSchedule::operator()(Index step) const
//
// The options are unpacked in the skeleton: shape; peak and floor, doubles; warmup and steps,
// Index. Warm-up: the first `warmup` steps rise in equal parts; none of them is 0, and the last of
// them, step warmup - 1, has the peak. After it, with x = 0 in step `warmup` and x = 1 in step
// `steps`:
//   constant      peak
//   cosine        floor + (peak - floor) (1 + cos(pi x)) / 2
//   linear        floor + (peak - floor) (1 - x)
//   inverse_root  peak sqrt(w / (step + 1)), w = warmup, or 1 if there is no warm-up
// From step `steps` on, cosine and linear stay at the floor. You have:
//   std::cos(a), std::sqrt(a), std::numbers::pi, std::min(a, b), std::max<Index>(a, b)
//   double(n)     so that a division is not one of integers: 3 / 4 is 0
#pragma once

#include <numbers>

#include "common/answer.hpp"
#include "headroom/optim/rate.hpp"
