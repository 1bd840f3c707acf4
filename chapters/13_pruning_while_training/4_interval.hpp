// Exercise 13/4: write two functions that return the 95 % interval of a mean.
//
//   Interval mean_interval(std::span<const double> values)
//   Interval paired_interval(std::span<const double> a, std::span<const double> b)
//
// Interval {value, low, high}. The first one is a function of the library, which uses it for all
// means over seeds and draws. With n values, their mean m and s^2 = (sum of (v - m)^2) / (n - 1):
//   {m, m - h, m + h}   with h = t s / sqrt(n)   and t = student_t(n - 1)
// A single value has low = high = value. The file handles the case without values.
//
// The second one is the interval of the mean difference of a and b, where a[i] and b[i] belong
// together, because they have the same seed. You have, beside your first function:
//   student_t(freedom)   95 % of t-distributed values lie between -t and t; 1.96 for many values,
//                        2.776 for five, which have 4 degrees of freedom. It is the library's
#pragma once

#include <span>

#include "common/answer.hpp"
#include "headroom/base/error.hpp"
#include "headroom/statistics/contrasts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Interval paired_interval(std::span<const double> a, std::span<const double> b);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
