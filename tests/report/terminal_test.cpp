// Pictures in text.
#include "headroom_lab/report/terminal.hpp"

#include "headroom/base/error.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {
const TerminalStyle plain{.unicode = true, .colour = false};
const TerminalStyle ascii{.unicode = false, .colour = false};
}  // namespace

TEST_CASE("an attention map has the keys on top and a shade per weight") {
  const std::vector<std::string> keys = {"M", "a", "y"}, queries = {"0", "5"};
  const std::vector<std::vector<double>> weights = {{0.05, 0.1, 0.85}, {0.6, 0.3, 0.1}};
  CHECK(attention_map_text(keys, queries, weights, plain, 2) ==
        "     M a y\n"
        "  0  . ░ █\n"
        "  5  █ ▒ ░\n");
  CHECK(attention_map_text(keys, queries, weights, ascii) ==
        "   M a y\n"
        "0  . - #\n"
        "5  # + -\n");
  CHECK(shades_text(plain) == "█ from 0.6, ▒ from 0.3, ░ from 0.1, . less");
  CHECK(shades_text(ascii) == "# from 0.6, + from 0.3, - from 0.1, . less");
}

TEST_CASE("a map that is too wide closes its gaps, longer tokens keep their columns") {
  TerminalStyle narrow = plain;
  narrow.columns = 6;
  const std::vector<std::string> keys = {"a", "b", "c", "d"}, query = {"q"};
  CHECK(attention_map_text(keys, query, {{1, 0, 0, 0}}, narrow) == "  abcd\nq █...\n");
  const std::vector<std::string> words = {"AH0", "B"};
  CHECK(attention_map_text(words, query, {{1, 0}}, plain) == "   AH0 B\nq  ███ .\n");
}

TEST_CASE("a map that is still too wide continues below itself") {
  TerminalStyle narrow = plain;
  narrow.columns = 6;
  const std::vector<std::string> keys = {"a", "b", "c", "d", "e", "f"}, query = {"q"};
  CHECK(attention_map_text(keys, query, {{1, 0, 0, 0, 0, 1}}, narrow) ==
        "  abcd\nq █...\n\n  ef\nq .█\n");
  const std::vector<std::string> words = {"AH0", "B", "wider than the line", "C"};
  CHECK(attention_map_text(words, query, {{1, 0, 0, 1}}, narrow) ==
        "   AH0\nq  ███\n\n   B\nq  .\n\n   wider than the line\nq  ...................\n\n"
        "   C\nq  █\n");
}

TEST_CASE("a map whose weights do not fit its tokens is refused") {
  const std::vector<std::string> keys = {"a", "b"}, queries = {"q"};
  CHECK_THROWS_WITH(attention_map_text(keys, queries, {}, plain),
                    "attention_map_text: 0 rows of weights for 1 queries");
  CHECK_THROWS_AS(attention_map_text(keys, queries, {{1.0}}, plain), ShapeError);
}

TEST_CASE("grids of heads") {
  CHECK(head_grid_text({{true, false}, {false, true}}, plain) == "o x | x o");
}
