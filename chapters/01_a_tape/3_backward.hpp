// Exercise 01/3: write the backward pass.
//
//   void backward(const std::vector<Node*>& order)
//
// `order` is that of exercise 01/2: the root first, each node after all that read it. Afterwards
// node->gradient is dL/d(value) for every node, where L is the value of the root. So the root's own
// gradient is 1.
//
// An earlier pass may have left gradients. A leaf keeps its gradient, and what this pass finds is
// added to it: two losses add up. That is so for a root that is a leaf, too: 1 is added. Every
// other node starts from 0. You have:
//
//   order.front()                              the root
//   node->gradient                             dL/d(value)
//   node->inputs.empty()                       true for a leaf, whose node->backward is empty
//   node->backward(dy, Gradients(node->inputs))    adds to the gradients of the node's inputs
#pragma once

#include "common/answer.hpp"
#include "value.hpp"
