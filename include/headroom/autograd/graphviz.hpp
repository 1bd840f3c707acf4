// The tape as a picture, in the language of Graphviz.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headroom/autograd/tensor.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// How a leaf is shown. An input of the computation is an ellipse, a parameter a box; a leaf
/// without a name is a box called "leaf".
struct GraphLeaf {
  std::string name;
  Tensor tensor;
  bool input = false;
  /// Fill colours, "#a6c8ff": none, one, or as many stripes as the parameter has parts.
  std::vector<std::string> colours = {};
};

/// The tape behind one tensor.
struct TapeView {
  Tensor root;
  std::vector<GraphLeaf> leaves = {};
  std::string title = {};
};

/// The tapes as one Graphviz digraph (several in a frame each), inputs to the left: a rounded box
/// for every operation, its leaves as above, an ellipse for the result. Arrows from operations are
/// labelled with the shape of the output, leaves have it under their name. Only operations and
/// leaves that require a gradient are on a tape. Nodes have the classes "operation", "parameter",
/// "input" and "result", so that an SVG of it can be styled.
std::string to_graphviz(std::span<const TapeView> tapes);
/// The same for a single tape without a title.
std::string to_graphviz(const Tensor& root, const std::vector<GraphLeaf>& leaves = {});

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
