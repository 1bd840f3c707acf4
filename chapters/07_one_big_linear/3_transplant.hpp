// Exercise 07/3: move a model into the other layout.
//
//   void transplant(Module& from, Module& to)
//
// Both models have the same heads and the same other parameters; only the layout differs. You have:
//
//   attentions(module)           every attention with its path: .name, .attention. Both models have
//                                theirs in the same order
//   attention->head_slices()     who owns which part of which parameter. A HeadSlice has .role,
//                                .head (the original number), .name (of the parameter within the
//                                attention), and it is an AxisRange: .axis, .begin, .end
//   runs_of(shape, range)        where a range is in memory: {first, length, stride, count}. There
//                                are `count` runs of `length` elements; run i begins at element
//                                first + i * stride
//   parameters_of(module)        every parameter by its full name (in the file)
//   values_of(tensor)            the elements of a parameter, to write to (in the file)
//   full_name(attention, name)   the full name of a parameter of an attention (in the file)
//   move_part(source, old, target, now)   copies one part of a parameter; the file has its frame,
//                                and its body is the first gap
#pragma once

#include <map>
#include <set>

#include "common/answer.hpp"
#include "headroom/base/axis_range.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

void transplant(Module& from, Module& to);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
