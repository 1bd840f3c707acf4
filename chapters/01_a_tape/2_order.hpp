// Exercise 01/2: in which order does a backward pass visit the nodes?
//
//   std::vector<Node*> backward_order(Node* root)
//
// Return the root and everything that it was computed from, leaves included: each node once, and
// each one after all nodes that read it. For c = a + b; d = c * c; e = d + c, the order of e is
// e, d, c, a, b; or e, d, c, b, a. You have:
//
//   node->inputs          the nodes that it read, as std::shared_ptr<Node>: input.get()
//   node->number          counts the nodes as they were made: an operation has a larger number
//                         than each of its inputs
//   std::vector, std::set (contains, insert), std::sort
#pragma once

#include <set>

#include "common/answer.hpp"
#include "value.hpp"
