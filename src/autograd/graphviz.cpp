// The tape as a picture.
#include <fmt/format.h>

#include <unordered_map>

#include "autograd/node.hpp"

namespace headroom::inline HEADROOM_PRECISION {

using detail::Node;

namespace {
/// Every node behind `root`, in the order of a walk over inputs, each with its number.
std::vector<const Node*> reachable(const Tensor& root,
                                   std::unordered_map<const Node*, std::size_t>& number) {
  std::vector<const Node*> nodes;
  const auto meet = [&](const Node* node) {
    if (node != nullptr && number.emplace(node, nodes.size()).second) nodes.push_back(node);
  };
  meet(TapeAccess::node(root).get());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const auto& input : std::vector(nodes[i]->inputs)) meet(input.get());
  }
  return nodes;
}
}  // namespace

std::string to_graphviz(const Tensor& root,
                        const std::vector<std::pair<std::string, Tensor>>& labels) {
  std::unordered_map<const Node*, std::size_t> number;
  std::unordered_map<const Node*, std::string> name;
  for (const auto& [label, tensor] : labels) name[TapeAccess::node(tensor).get()] = label;
  const std::vector<const Node*> nodes = reachable(root, number);
  std::string text = "digraph tape {\n  rankdir=BT;\n  node [fontname=\"Helvetica\"];\n";
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node* node = nodes[i];
    const auto given = name.find(node);
    const std::string title = given != name.end() ? given->second
                              : node->leaf()      ? "leaf"
                                                  : node->operation;
    text += fmt::format("  n{} [label=\"{}\\n{}\", shape={}];\n", i, title, node->shape.text(),
                        node->leaf() ? "ellipse" : "box");
    for (const auto& input : node->inputs) {
      if (input != nullptr) text += fmt::format("  n{} -> n{};\n", number.at(input.get()), i);
    }
  }
  return text + "}\n";
}

Index graph_size(const Tensor& root) {
  std::unordered_map<const Node*, std::size_t> number;
  Index operations = 0;
  for (const Node* node : reachable(root, number)) operations += node->leaf() ? 0 : 1;
  return operations;
}

}  // namespace headroom::inline HEADROOM_PRECISION
