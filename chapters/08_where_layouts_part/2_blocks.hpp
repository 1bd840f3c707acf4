// Exercise 08/2: write the list of blocks over which LAMB, Muon and clipping take their norms.
//
//   std::vector<ParameterBlock> parameter_blocks(Module& model, Granularity granularity)
//
// tensor: each parameter whole. head: one block for each role of each head of each attention (its
// W_Q, its W_K, its b_Q, ...). projection: one block for each role of each attention, all heads
// together. A parameter without a slice of a single head is one block, in every granularity. Every
// element is in exactly one block. You have:
//
//   attentions(model)         {name, attention}; name is "" if the model is the attention
//   attention->head_slices()  HeadSlice {role, head, name, axis, begin, end}; head < 0: of no head,
//                             or of all. `name` is the parameter's name within the attention
//   slice.owners()            the heads of a slice: {head}, or a group that shares it, or none
//   parameters(model)         {name, tensor}, with full names: "encoder.out.weight"
//   BlockPart {slice, name}   a part of a block, from a slice and the full name of the parameter
//   BlockPart {{0, 0, n}, name}         the indices [0, n) of axis 0: a whole parameter
//   ParameterBlock            std::vector<BlockPart>
#pragma once

#include <map>
#include <set>
#include <utility>

#include "common/answer.hpp"
#include "headroom/optim/parameter_blocks.hpp"
