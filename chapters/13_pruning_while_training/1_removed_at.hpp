// Exercise 13/1: write the gradual schedule, in removed_at.
//
//   Index removed_at(const Pace& pace, Index total, Index step)
//
// Returns how many of `total` heads are removed after the update of this step. A Pace is one of
// three structs, and std::visit calls its function `gone`. Two of these are in the file. Write:
//   Gradual{from, to, every}
//   * none is removed up to step `from`, all are removed from step `to` on
//   * in between, heads are removed only after the steps from + every, from + 2 every, ... that
//     are before `to`
//   * after r of these steps, p = r every / (to - from), and the number is total (1 - (1 - p)^3),
//     rounded down (Zhu and Gupta 2017, equation 1)
// Add 1e-9 before you round down: 7 may come out as 6.9999999999.
//
// The same arguments must give the same result, whatever the earlier calls were: a training that
// was stopped at step 700 continues in a new process.
#pragma once

#include "common/answer.hpp"
#include "headroom_measure/pruning/schedules.hpp"
