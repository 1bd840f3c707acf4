// The tape as a picture.
#include "headroom/autograd/graphviz.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unordered_map>

#include "autograd/node.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

using detail::Node;

namespace {

// Default fills of leaves, and those of inputs and results.
constexpr const char *plain = "#e6e8ec", *flowing = "#fdf0d5";

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

/// A text between the quotes of the DOT language.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

/// The attributes of a leaf: `look` is how the user wants it shown, if given.
std::string leaf_text(const Node& node, const GraphLeaf* look) {
  const bool input = look != nullptr && look->input;
  std::string label = quoted(look == nullptr ? "leaf" : look->name);
  label.insert(label.size() - 1, "\\n" + node.shape.text());
  std::string text = fmt::format("label={}, class={}, shape={}", label,
                                 input ? "input" : "parameter", input ? "ellipse" : "box");
  if (look == nullptr || look->colours.empty()) {
    return text + fmt::format(", fillcolor=\"{}\"", input ? flowing : plain);
  }
  return text + fmt::format(", style={}, fillcolor=\"{}\"",
                            look->colours.size() > 1 ? "striped" : "filled",
                            fmt::join(look->colours, ":"));
}

/// Nodes and arrows of one tape; its nodes are called PREFIX0, PREFIX1, ...
std::string body_of(const TapeView& tape, const std::string& prefix, const std::string& indent) {
  std::unordered_map<const Node*, std::size_t> number;
  std::unordered_map<const Node*, const GraphLeaf*> looks;
  for (const GraphLeaf& leaf : tape.leaves) looks[TapeAccess::node(leaf.tensor).get()] = &leaf;
  std::string text;
  const auto line = [&](const std::string& what) { text += indent + what + ";\n"; };
  const std::vector<const Node*> nodes = reachable(tape.root, number);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = *nodes[i];
    const auto look = looks.find(&node);
    if (node.leaf()) {
      line(fmt::format("{}{} [{}]", prefix, i,
                       leaf_text(node, look == looks.end() ? nullptr : look->second)));
      continue;
    }
    line(
        fmt::format("{}{} [label=\"{}\", class=operation, shape=box, style=\"rounded,filled\", "
                    "fillcolor=white, penwidth=1.5]",
                    prefix, i, node.operation));
    for (const auto& input : node.inputs) {
      if (input == nullptr) continue;
      const std::string shape =
          input->leaf() ? std::string() : fmt::format(" [label=\"  {}\"]", input->shape.text());
      line(fmt::format("{0}{1} -> {0}{2}{3}", prefix, number.at(input.get()), i, shape));
    }
  }
  if (!nodes.empty()) {
    line(
        fmt::format("{}result [label=\"result\\n{}\", class=result, shape=ellipse, "
                    "fillcolor=\"{}\"]",
                    prefix, nodes.front()->shape.text(), flowing));
    line(fmt::format("{0}0 -> {0}result", prefix));
  }
  return text;
}

}  // namespace

std::string to_graphviz(std::span<const TapeView> tapes) {
  std::string text =
      "digraph tape {\n"
      "  rankdir=LR; ordering=in; bgcolor=transparent; nodesep=0.12; ranksep=0.45;\n"
      "  fontname=\"Helvetica\"; fontsize=15; labelloc=t;\n"
      "  node [fontname=\"Helvetica\", fontsize=12, style=filled, color=\"#7c858f\"];\n"
      "  edge [fontname=\"Helvetica\", fontsize=11, arrowsize=0.7];\n";
  for (std::size_t i = 0; i < tapes.size(); ++i) {
    const std::string title = fmt::format("label={};\n", quoted(tapes[i].title));
    if (tapes.size() == 1) {  // without a frame: Graphviz keeps inputs in order outside of frames
      text += "  " + title + body_of(tapes[i], "n", "  ");
    } else {
      text += fmt::format("  subgraph cluster_{} {{\n    style=rounded; margin=16; {}", i, title);
      text += body_of(tapes[i], fmt::format("t{}n", i), "    ") + "  }\n";
    }
  }
  return text + "}\n";
}

std::string to_graphviz(const Tensor& root, const std::vector<GraphLeaf>& leaves) {
  const TapeView view{root, leaves, {}};
  return to_graphviz(std::span(&view, 1));
}

Index graph_size(const Tensor& root) {
  std::unordered_map<const Node*, std::size_t> number;
  Index operations = 0;
  for (const Node* node : reachable(root, number)) operations += node->leaf() ? 0 : 1;
  return operations;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
