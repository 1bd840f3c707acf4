// Exercise 08/4: measure how strong the gradient of each head is, in any layout.
//
//   std::vector<double> head_gradient_norms(Attention& layer)
//
// One number for each live head, in the order of head_slices(): the Euclidean norm of all of the
// head's gradients together, weights and biases. The output bias belongs to no head. A parameter
// without a gradient (grad() is undefined) counts as zeros. You have:
//
//   layer.head_slices()       HeadSlice {role, head, name, axis, begin, end}. head is the original
//                             number of a live head, or negative: of no head, or of all
//   layer.alive()             the original numbers of the live heads, ascending
//   parameters(layer)         NamedParameter {name, tensor}, with the names of the slices
//   tensor.grad()             an Array: elements grad[i], grad.defined(), grad.shape()
//   for_each_run(shape, slice, [&](Index first, Index count) { ... })
//                             calls back for each run of elements that a slice has in memory
#pragma once

#include <map>

#include "common/answer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::vector<double> head_gradient_norms(Attention& layer);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
