//! title: backward_order
//! minutes: 20
//! difficulty: 2
//! path: short
//! hint: Two questions in one: which nodes, and in which order. The numbers of the nodes answer the
//!   second one. And how do you notice that you have seen a node before?
//! hint: Keep a list of nodes that are still to be looked at, at first the root, and a set of those
//!   that were seen. Take one from the list; put its inputs into both, unless the set has them. At
//!   the end sort what you have.
//! hint: The order is that of the numbers, the largest first:
//!   std::sort(nodes.begin(), nodes.end(), [](Node* a, Node* b) { return a->number > b->number; });
//! after: The library does the same: its nodes are numbered at birth, and a pass visits them from
//!   the youngest to the oldest. No function calls itself, so a program of a million operations
//!   needs no deeper stack than one of three.
// Exercise 01/2: each node once, after all that read it.
#include "2_order.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace scalar {

//! solution
//! skeleton
//! wrong recursion: a search must stop at nodes that it has seen
// // Every path from the root to every node.
// static void visit(Node* node, std::vector<Node*>& all) {
//   all.push_back(node);
//   for (const auto& input : node->inputs) visit(input.get(), all);
// }
//
//! wrong preorder: in the order in which a depth-first search enters
// static void visit(Node* node, std::set<Node*>& seen, std::vector<Node*>& order) {
//   if (!seen.insert(node).second) return;
//   order.push_back(node);
//   for (const auto& input : node->inputs) visit(input.get(), seen, order);
// }
//
//! wrong postorder: It looks as if the order is right, but backwards
// static void visit(Node* node, std::set<Node*>& seen, std::vector<Node*>& order) {
//   if (!seen.insert(node).second) return;
//   for (const auto& input : node->inputs) visit(input.get(), seen, order);
//   order.push_back(node);
// }
//
//! end
std::vector<Node*> backward_order(Node* root) {
  //! solution
  std::vector<Node*> nodes{root};
  std::set<Node*> seen{root};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const auto& input : nodes[i]->inputs) {
      if (seen.insert(input.get()).second) nodes.push_back(input.get());
    }
  }
  std::sort(nodes.begin(), nodes.end(), [](Node* a, Node* b) { return a->number > b->number; });
  return nodes;
  //! skeleton
  // return chapter::todo("each node once, after all that read it");
  //! wrong recursion: a search must stop at nodes that it has seen
  // std::vector<Node*> all;
  // visit(root, all);
  // std::sort(all.begin(), all.end(), [](Node* a, Node* b) { return a->number > b->number; });
  // all.erase(std::unique(all.begin(), all.end()), all.end());
  // return all;
  //! wrong preorder: in the order in which a depth-first search enters
  // std::set<Node*> seen;
  // std::vector<Node*> order;
  // visit(root, seen, order);
  // return order;
  //! wrong postorder: It looks as if the order is right, but backwards
  // std::set<Node*> seen;
  // std::vector<Node*> order;
  // visit(root, seen, order);
  // return order;
  //! wrong breadth_first: It looks as if nodes are in the order of a breadth-first search
  //- std::sort(nodes.begin(), nodes.end(), [](Node* a, Node* b) { return a->number > b->number; });
  //! wrong repeats: is there 3 times
  // std::vector<Node*> nodes{root};
  // for (std::size_t i = 0; i < nodes.size() && i < 100; ++i) {
  //   for (const auto& input : nodes[i]->inputs) nodes.push_back(input.get());
  // }
  // std::sort(nodes.begin(), nodes.end(), [](Node* a, Node* b) { return a->number > b->number; });
  // return nodes;
  //! wrong without_leaves: the leaf b is missing
  //  for (const auto& input : nodes[i]->inputs) {
  //+   if (input->inputs.empty()) continue;
  //! wrong without_root: the root is missing
  // std::vector<Node*> nodes;
  // std::set<Node*> seen;
  // std::vector<Node*> open{root};
  // while (!open.empty()) {
  //   Node* const node = open.back();
  //   open.pop_back();
  //   for (const auto& input : node->inputs) {
  //     if (!seen.insert(input.get()).second) continue;
  //     nodes.push_back(input.get());
  //     open.push_back(input.get());
  //   }
  // }
  // std::sort(nodes.begin(), nodes.end(), [](Node* a, Node* b) { return a->number > b->number; });
  // return nodes;
  //! wrong oldest_first: It looks as if the order is right, but backwards
  //- std::sort(nodes.begin(), nodes.end(), [](Node* a, Node* b) { return a->number > b->number; });
  //+ std::sort(nodes.begin(), nodes.end(), [](Node* a, Node* b) { return a->number < b->number; });
  //! end
}

}  // namespace scalar
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
