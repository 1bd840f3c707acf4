// Exercise 12/3: write Optimizer::change, which does to an optimizer's moments what a removal did
// to a parameter. apply() checks the edits and calls it for each.
//
//   void Optimizer::change(const ParameterEdit& edit)
//
// ParameterEdit {name, axis, from, gone}: index i of `axis` is the former index from[i], or
// ParameterEdit::fresh, which is -1 and starts with moments 0 and step count 0. A parameter that is
// `gone` has no moments any more. An edit along another axis than state.axis leaves the step counts
// as they are. You have:
//
//   OptimizerState& state(name)       first, second: moments of the parameter's shape; undefined if
//                                     this optimizer does not keep them (a.defined())
//                                     steps: number of updates of each index of the axis
//                                     state.axis, the one along which heads are stored
//   forget(name)                      drops the state
//   gather(a, axis, indices)          the slices of an Array at these indices, in this order
//   concat({a, b}, axis), zeros(shape), a.shape().with(axis, size)
#pragma once

#include "common/answer.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/optim/optimizer.hpp"
