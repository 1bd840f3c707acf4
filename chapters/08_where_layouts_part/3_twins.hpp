// Exercise 08/3: make one head of a layer a twin of another.
//
//   void make_twins(SeparateHeads& layer, Index from, Index to)
//
// Afterwards head `to` has the same weights as head `from`, and the two stay equal in training:
// their gradients are equal in every step. All other heads keep their weights. No head of the
// layer has been removed. You have:
//
//   layer.query[h]->weight [D, C], ->bias [D]   likewise key and value; a bias may be undefined
//   layer.out.weight [C, H D]                   head h owns the columns [h D, (h + 1) D)
//   layer.out.bias [C]                          belongs to no head
//   tensor.value()                              an Array; copies of it share their elements
//   array.clone()                               a copy with its own elements
//   tensor.set_value(array)                     gives a parameter another value
//   tensor.edit_value()                         the value, to change its elements [i] in place
//   layer.head_dim(), layer.config()            D; .heads is H, .width is C
#pragma once

#include "common/answer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

void make_twins(SeparateHeads& layer, Index from, Index to);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
