// Exercise 01/1: write two operations of the scalar tape.
//
//   Value operator*(const Value& a, const Value& b)      y = a b      dy/da = b, dy/db = a
//   Value tanh(const Value& x)                           y = tanh x   dy/dx = 1 - y^2
//
// The sum is already there, in value.hpp, as an example. You have:
//
//   a.value()                         the number
//   record(y, {a, b}, backward)       puts an operation on the tape: its result, its inputs, and
//                                     the function that the backward pass calls
//   [..](Real dy, const Gradients& into) { .. }    that function. dy is dL/dy. In [..] stands what
//                                     it keeps: [a, b] keeps copies of the handles
//   into[0] += g                      adds g to the gradient of input 0
//   std::tanh(number)
#pragma once

#include "common/answer.hpp"
#include "value.hpp"
