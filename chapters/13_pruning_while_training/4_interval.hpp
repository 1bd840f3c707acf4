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
//                        2.776 for five, which have 4 degrees of freedom
#pragma once

#include <span>

#include "common/answer.hpp"
#include "headroom/base/error.hpp"
#include "headroom/statistics/intervals.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The 97.5 % point of Student's t: a table up to 10 degrees of freedom, beyond it an expansion.
inline double student_t(std::size_t freedom) {
  constexpr double points[] = {12.706, 4.303, 3.182, 2.776, 2.571,
                               2.447,  2.365, 2.306, 2.262, 2.228};
  if (freedom <= std::size(points)) return points[freedom - 1];
  constexpr double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z;
  const double n = double(freedom);
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n);
}

Interval paired_interval(std::span<const double> a, std::span<const double> b);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
