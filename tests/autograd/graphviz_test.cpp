// The drawing of the tape: every operation and leaf once, with arrows and shapes.
#include "headroom/autograd/graphviz.hpp"

#include <array>

#include "autograd/toy_operations.hpp"
#include "support/close.hpp"

using namespace headroom;
using namespace headroom::test;
using Catch::Matchers::Contains;

namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

}  // namespace

TEST_CASE("the tape as a picture: operations, named leaves, arrows from inputs to outputs") {
  const Tensor w = parameter(Array(Shape{2}, {1, 2})), x = parameter(Array(Shape{2}, {3, 4}));
  const Tensor y = plus(product(w, x), x);
  const std::string text = to_graphviz(y, {{"weight", w, false, {"#a9c7ff"}}, {"x", x, true}});
  CHECK_THAT(text, Catch::StartsWith("digraph tape {\n") && Catch::EndsWith("}\n"));
  CHECK_THAT(text, Contains("n0 [label=\"plus\", class=operation, shape=box") &&
                       Contains("n1 [label=\"product\", class=operation") &&
                       Contains("n2 [label=\"x\\n[2]\", class=input, shape=ellipse") &&
                       Contains("n3 [label=\"weight\\n[2]\", class=parameter, shape=box, "
                                "style=filled, fillcolor=\"#a9c7ff\"];") &&
                       Contains("nresult [label=\"result\\n[2]\", class=result"));
  // The shape of an operation's result is on the arrow, the shape of a leaf under its name.
  CHECK_THAT(text, Contains("n1 -> n0 [label=\"  [2]\"];") && Contains("n2 -> n0;") &&
                       Contains("n3 -> n1;") && Contains("n2 -> n1;") && Contains("n0 -> nresult"));
  CHECK(count_of(text, "->") == 5);
  CHECK(count_of(text, "class=operation") == 2);
  CHECK(graph_size(y) == 2);
}

TEST_CASE("leaves: nobody's is called leaf, parts are stripes, names are escaped") {
  const Tensor w = parameter(Array(Shape{2}, {1, 2})), v = parameter(Array(Shape{2}, {3, 4}));
  const std::string text =
      to_graphviz(product(w, v), {{"a \"b\" \\ c", w, false, {"#a9c7ff", "#ffc999"}}});
  CHECK_THAT(text, Contains("label=\"a \\\"b\\\" \\\\ c\\n[2]\"") &&
                       Contains("style=striped, fillcolor=\"#a9c7ff:#ffc999\"") &&
                       Contains("label=\"leaf\\n[2]\", class=parameter"));
}

TEST_CASE("several tapes have frames, titles and nodes of their own") {
  const Tensor w = parameter(Array(Shape{2}, {1, 2}));
  const std::array<TapeView, 2> views{TapeView{times(w, 2), {}, "the first"},
                                      TapeView{plus(w, w), {}, "the second"}};
  const std::string text = to_graphviz(views);
  CHECK_THAT(text, Contains("subgraph cluster_0 {") && Contains("label=\"the first\"") &&
                       Contains("subgraph cluster_1 {") && Contains("label=\"the second\"") &&
                       Contains("t0n1 -> t0n0;") && Contains("t1n1 -> t1n0;"));
  CHECK(count_of(text, "t1n1 -> t1n0;") == 2);  // the same leaf twice
}

TEST_CASE("a tensor without a tape is an empty picture") {
  const std::string text = to_graphviz(constant(Array(Shape{2}, {1, 2})));
  CHECK(count_of(text, "->") == 0);
  CHECK(count_of(text, "class=") == 0);
}
