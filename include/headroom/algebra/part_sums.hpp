// Sums over a part of two arrays.
#pragma once

#include "headroom/array/array.hpp"
#include "headroom/base/axis_range.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// sum_i a_i b_i over a part of two arrays of one shape, in double.
double part_dot(const AxisRange& part, const Array& a, const Array& b);
/// sum_i (a_i - b_i)^2 over the part.
double part_squared_distance(const AxisRange& part, const Array& a, const Array& b);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
