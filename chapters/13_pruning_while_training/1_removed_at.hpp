// Exercise 13/1: write the gradual schedule, in removed_at.
//
//   Index removed_at(const Pace& pace, Index total, Index step)
//
// How many of `total` heads are gone after the update of this step. A Pace is one of three structs,
// and std::visit calls the function `gone` for the one it is. Two of them are there. Yours:
//   Gradual{from, to, every}
//   * none is gone up to step `from`, all are gone from step `to` on
//   * in between, heads go only every `every` steps: after the steps from + every, from + 2 every,
//     ..., as far as these lie before `to`
//   * with r removals by now, p = r every / (to - from) is the part of the way, and the number is
//     total (1 - (1 - p)^3), rounded down (Zhu and Gupta 2017, equation 1)
// Add 1e-9 before you round down: 7 may come out as 6.9999999999.
//
// It is a function: the same arguments give the same result, whatever was asked before. A training
// that was stopped at step 700 goes on in a new process.
#pragma once

#include "common/answer.hpp"
#include "headroom/heads/schedules.hpp"
