// Exercise 12/2: write Attention::prune, which removes heads from a layer of any layout.
//
//   std::vector<ParameterEdit> Attention::prune(std::span<const Index> original_heads)
//
// It cuts the slices of the removed heads out of every parameter, value and gradient, and returns
// an edit for each changed parameter, so that the optimizer can change its moments in the same way:
//   {.name = "out.weight", .axis = 1, .from = {0, 1, 4, 5}}   index i is the former index from[i]
//   {.name = "query.1.weight", .gone = true}                  is no longer in the layer
// You have:
//   head_slices()                 the slices of the heads that are alive now
//   goes(slice)                   true if its head is removed (in the file)
//   parameters(*this)             {name, tensor} of each parameter that is in the layer now
//   drop_modules(kept_positions)  drops the Linears of the other heads
//   alive_                        original numbers of the live heads; set it
//   kept(array, edit)             an Array at the indices edit.from; undefined stays undefined, as
//                                 a gradient may be (in the file)
//   tensor.value(), tensor.grad() Arrays
//   tensor.set_value(value, gradient)   for every holder of the tensor
//   a.same(b)                     true if both are handles of one tensor
// The check for unknown heads is already in the file, and so is the list of the heads that stay.
#pragma once

#include <map>
#include <set>

#include "common/answer.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/base/error.hpp"
